"""The extractors that are running: they say so themselves, and say so again while they live."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, and_, select, update

from shared.store.engine import reading, writing
from shared.store.keyed import insert_new
from shared.store.tables import EXTRACTORS


@dataclass(frozen=True)
class Instrument:
    """One extractor at one version, how it does, and when it was last heard of."""

    name: str
    version: str
    features: tuple[str, ...]
    seen_at: datetime
    instrument: str = ""
    """What it measures with, in a few words."""
    kind: str = "built in"
    """Built in, or a drop-in that some other process serves."""
    lag: int | None = None
    """Responses that wait for it, where it has a durable of its own."""
    rate_per_s: float | None = None
    """Texts a second since it was last heard of."""
    last_error: str | None = None
    """What went wrong last, in words of ours."""
    refused: str | None = None
    """Why it is not asked to measure, where it is there but breaks the contract."""


class Instruments:
    """Who measures, at which version."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def announce(self, *told: Instrument) -> None:
        """Say that extractors are running, or why one is refused; all at once are seen at once."""
        with writing(self._engine) as connection:
            for each in told:
                row: dict[str, Any] = {**vars(each), "features": json.dumps(list(each.features))}
                mine = and_(EXTRACTORS.c.name == each.name, EXTRACTORS.c.version == each.version)
                if not insert_new(connection, EXTRACTORS, [row]):
                    connection.execute(update(EXTRACTORS).where(mine).values(**row))

    def running(self, since: datetime) -> list[Instrument]:
        """Return the extractors heard of since a moment, the latest version of each first."""
        return [each for each in self.ever() if each.seen_at >= since and not each.refused]

    def ever(self) -> list[Instrument]:
        """Return every extractor that was ever heard of, the latest version of each first."""
        query = select(EXTRACTORS).order_by(EXTRACTORS.c.name, EXTRACTORS.c.seen_at.desc())
        with reading(self._engine) as connection:
            rows = connection.execute(query).mappings().all()
        return [
            Instrument(**{**row, "features": tuple(json.loads(row["features"]))}) for row in rows
        ]
