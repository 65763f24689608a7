"""Which users have entered a monitor's evidence: each once in an epoch, in the round they came."""

from collections.abc import Iterable

from sqlalchemy import Engine, select

from shared.contracts import derived_id
from shared.store.engine import insert_new, read_transaction, write_transaction
from shared.store.tables import ENROLLED_UNITS

AT_ONCE = 500
"""Units in one query: below every database's limit on parameters."""


class EnrolledUnits:
    """First appearances of units; names of users are kept as digests alone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def enroll(
        self, monitor_id: str, epoch: int, dimension: str, units: Iterable[str], round_: int
    ) -> set[str]:
        """Enter those units that are new; give those that entered in this round.

        Who asks again for the same round, after a death, is given the same units.
        """
        scope = {"monitor_id": monitor_id, "epoch": epoch, "dimension": dimension}
        by_digest = {derived_id("unit", monitor_id, unit): unit for unit in units}
        digests = sorted(by_digest)
        rows = [{**scope, "unit": digest, "round": round_} for digest in digests]
        with write_transaction(self._engine) as connection:
            insert_new(connection, ENROLLED_UNITS, rows)
        return {
            by_digest[digest]
            for start in range(0, len(digests), AT_ONCE)
            for digest in self._of_round(scope, digests[start : start + AT_ONCE], round_)
        }

    def _of_round(self, scope: dict[str, object], digests: list[str], round_: int) -> list[str]:
        query = select(ENROLLED_UNITS.c.unit).where(
            *(ENROLLED_UNITS.c[name] == value for name, value in scope.items()),
            ENROLLED_UNITS.c.unit.in_(digests),
            ENROLLED_UNITS.c.round == round_,
        )
        with read_transaction(self._engine) as connection:
            return list(connection.scalars(query))
