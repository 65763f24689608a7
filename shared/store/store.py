"""The store of a service: opened once, checked, closed at the end."""

from sqlalchemy import Engine

from shared.errors import ConfigurationError
from shared.store.calls import Calls
from shared.store.engine import engine_of
from shared.store.enrolled_units import EnrolledUnits
from shared.store.extractors import Baselines, Calibrations, Extractors
from shared.store.gathers import Gathers
from shared.store.migrate import check
from shared.store.monitor_rounds import ClosedRounds, Schedule
from shared.store.records import Records
from shared.store.suites import Suites
from shared.store.texts import Purges


class Store:
    """All tables of one database; calls block, so call them from a thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.records = Records(engine)
        self.rounds = ClosedRounds(self.records)
        self.purges = Purges(engine)
        self.suites = Suites(engine)
        self.extractors = Extractors(engine)
        self.calls = Calls(engine)
        self.baselines = Baselines(engine)
        self.calibrations = Calibrations(engine)
        self.schedule = Schedule(engine)
        self.enrolled_units = EnrolledUnits(engine)

    @classmethod
    def open(cls, url: str) -> "Store":
        """Open the store at `url`.

        Raises
        ------
        ConfigurationError
            It cannot be opened, is not migrated, or was created by a newer version.
        """
        engine = engine_of(url)
        try:
            check(engine)
        except ConfigurationError:
            engine.dispose()
            raise
        return cls(engine)

    def gathers(self, stage: str) -> Gathers:
        """Return the gathers of one stage."""
        return Gathers(self._engine, stage)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
