"""Which runs people have labelled, how many labels each has, and the latest corrections of each."""

from collections import defaultdict
from collections.abc import Iterable

from sqlalchemy import Engine, and_, func, select

from biaswatch.shared.contracts import Correction, Label, Round
from biaswatch.shared.store.engine import chunks, read_transaction
from biaswatch.shared.store.membership import among
from biaswatch.shared.store.tables import RECORDS


class LabelledRuns:
    """Finds labelled runs, all tenants': services look here for work that is left."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def counts(self) -> dict[str, int]:
        """Return the number of labels of each run that has any; read from an index alone."""
        run_id = RECORDS[Label.kind].c.run_id
        query = select(run_id, func.count()).where(run_id.is_not(None)).group_by(run_id)
        with read_transaction(self._engine) as connection:
            return {str(row[0]): int(row[1]) for row in connection.execute(query)}

    def of_monitors(self) -> dict[str, list[str]]:
        """Return, by the id of each monitor that has any, the runs of its rounds with labels.

        Read from indexes alone, in a time that grows with what people have labelled.
        """
        rounds, labels = RECORDS[Round.kind].c, RECORDS[Label.kind].c
        labelled = select(labels.run_id).where(labels.run_id.is_not(None)).distinct().subquery()
        query = select(rounds.monitor_id, rounds.run_id)
        query = query.join(labelled, labelled.c.run_id == rounds.run_id)
        found: dict[str, list[str]] = defaultdict(list)
        with read_transaction(self._engine) as connection:
            for monitor_id, run_id in connection.execute(query.order_by(rounds.run_id)):
                found[str(monitor_id)].append(str(run_id))
        return dict(found)

    def of_monitor(self, monitor_id: str) -> list[str]:
        """Return the runs of one monitor's rounds with labels."""
        return self.of_monitors().get(monitor_id, [])

    def last_corrections(self, run_ids: Iterable[str]) -> list[str]:
        """Return the ids of the corrections of each run that were computed last."""
        table = RECORDS[Correction.kind]
        last = select(table.c.run_id, func.max(table.c.at).label("at")).group_by(table.c.run_id)
        found: list[str] = []
        with read_transaction(self._engine) as connection:
            for some in chunks(run_ids):
                newest = last.where(among(table.c.run_id, some)).subquery()
                same = and_(table.c.run_id == newest.c.run_id, table.c.at == newest.c.at)
                query = select(table.c.id).join(newest, same)
                found += connection.scalars(query.order_by(table.c.id))
        return found
