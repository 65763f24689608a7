"""Users in a monitor's evidence: each enters once per epoch, in the round they first appear."""

from collections.abc import Iterable

from sqlalchemy import Engine, select

from shared.contracts import derived_id
from shared.store.engine import chunks, insert_new, read_transaction, write_transaction
from shared.store.tables import ENROLLED_UNITS


class EnrolledUnits:
    """First appearances of units; users' names are stored as digests only."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def enroll(
        self, monitor_id: str, epoch: int, dimension: str, units: Iterable[str], round_: int
    ) -> set[str]:
        """Enroll the new units; return those of this round.

        A second call for the same round, after a crash, returns the same units.
        """
        scope = {"monitor_id": monitor_id, "epoch": epoch, "dimension": dimension}
        by_digest = {derived_id("unit", monitor_id, unit): unit for unit in units}
        digests = sorted(by_digest)
        rows = [{**scope, "unit": digest, "round": round_} for digest in digests]
        with write_transaction(self._engine) as connection:
            insert_new(connection, ENROLLED_UNITS, rows)
        query = select(ENROLLED_UNITS.c.unit).where(
            *(ENROLLED_UNITS.c[name] == value for name, value in scope.items()),
            ENROLLED_UNITS.c.round == round_,
        )
        with read_transaction(self._engine) as connection:
            return {
                by_digest[digest]
                for some in chunks(digests)
                for digest in connection.scalars(query.where(ENROLLED_UNITS.c.unit.in_(some)))
            }
