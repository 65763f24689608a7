"""What monitors are now, and what of a tenant is under way: read however much was there before."""

from sqlalchemy import Engine, and_, func, or_, select

from biaswatch.shared.contracts import RUN_GATHER, Monitor, Purpose, Run
from biaswatch.shared.store.engine import read_transaction
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.scope import ScopeNow
from biaswatch.shared.store.tables import GATHERS, RECORDS


class MonitorDefinitions:
    """The definitions of monitors; each change is a record of its own, and the last one counts."""

    def __init__(self, engine: Engine, records: Records, scope: ScopeNow) -> None:
        self._engine = engine
        self._records = records
        self._scope = scope

    def latest(self) -> list[Monitor]:
        """Return the last definition of each monitor, also of deleted ones, the oldest first.

        No definition is older than the one before it, so that the database finds the last ones and
        the others are never read.
        """
        table = RECORDS[Monitor.kind].c
        tenant = self._scope().tenant
        mine = [table.tenant == tenant] if tenant is not None else []
        last = (
            select(table.tenant, table.name, func.max(table.at).label("at"))
            .where(*mine)
            .group_by(table.tenant, table.name)
            .subquery()
        )
        same = and_(table.tenant == last.c.tenant, table.name == last.c.name, table.at == last.c.at)
        query = select(table.id).join(last, same)
        with read_transaction(self._engine) as connection:
            ids = list(connection.scalars(query))
        found = sorted(self._records.get(Monitor, ids), key=lambda each: each.moment_ms)
        return list({(each.tenant, each.name): each for each in found}.values())


class RunsUnderWay:
    """Counts the runs that somebody has started and that have not ended."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def count(self, tenant: str) -> int:
        """Count a tenant's; rounds of monitors and windows of traffic are not among them."""
        runs, gathers = RECORDS[Run.kind], GATHERS.c
        waited_for = and_(gathers.stage == RUN_GATHER, gathers.key == runs.c.id)
        query = (
            select(func.count())
            .select_from(runs.outerjoin(GATHERS, waited_for))
            .where(runs.c.tenant == tenant, runs.c.purpose == Purpose.STUDY.value)
            .where(or_(gathers.key.is_(None), gathers.closed_at.is_(None)))
        )
        with read_transaction(self._engine) as connection:
            return int(connection.scalar(query) or 0)
