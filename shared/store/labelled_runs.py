"""Which runs people have labelled, and how many labels each has."""

from sqlalchemy import Engine, func, select

from shared.contracts import Label
from shared.store.engine import read_transaction
from shared.store.tables import RECORDS


class LabelledRuns:
    """Counts the labels of runs, all tenants': services look here for work that is left."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def counts(self) -> dict[str, int]:
        """Return the number of labels of each run that has any; read from an index alone."""
        run_id = RECORDS[Label.kind].c.run_id
        query = select(run_id, func.count()).where(run_id.is_not(None)).group_by(run_id)
        with read_transaction(self._engine) as connection:
            return {str(row[0]): int(row[1]) for row in connection.execute(query)}
