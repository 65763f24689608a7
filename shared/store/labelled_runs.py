"""Runs and rounds with labels of people."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import func, select

from biaswatch.shared.contracts import Correction, Label, Round
from biaswatch.shared.lookup import grouped
from biaswatch.shared.store.database import Database
from biaswatch.shared.store.tables import RECORDS


@dataclass(eq=False)
class LabelledRuns:
    """Finds labelled runs of all tenants, for services that look for pending work."""

    db: Database

    def counts(self) -> dict[str, int]:
        """Return the number of labels of each labelled run; reads an index only."""
        run_id = RECORDS[Label.kind].c.run_id
        query = select(run_id, func.count().label("labels")).group_by(run_id)
        rows = self.db.rows(query.where(run_id.is_not(None)))
        return {str(row.run_id): int(row.labels) for row in rows}

    def of_monitors(self, monitor_id: str | None = None) -> dict[str, list[str]]:
        """Return the labelled runs of each monitor's rounds, by monitor id.

        Reads indexes only, in a time that grows with the number of labels.
        """
        rounds, labels = RECORDS[Round.kind].c, RECORDS[Label.kind].c
        labelled = select(labels.run_id).where(labels.run_id.is_not(None)).distinct().subquery()
        query = select(rounds.monitor_id, rounds.run_id)
        query = query.join(labelled, labelled.c.run_id == rounds.run_id)
        query = query if monitor_id is None else query.where(rounds.monitor_id == monitor_id)
        return grouped(
            (str(row.monitor_id), str(row.run_id))
            for row in self.db.rows(query.order_by(rounds.run_id))
        )

    def of_monitor(self, monitor_id: str) -> list[str]:
        """Return the labelled runs of one monitor's rounds."""
        return self.of_monitors(monitor_id).get(monitor_id, [])

    def last_corrections(self, run_ids: Iterable[str]) -> list[str]:
        """Return the ids of each run's latest corrections."""
        corrections = RECORDS[Correction.kind].c
        later = RECORDS[Correction.kind].alias()
        newest = select(func.max(later.c.at)).where(later.c.run_id == corrections.run_id)
        query = select(corrections.id).where(corrections.at == newest.scalar_subquery())
        return self.db.scalars_in(query.order_by(corrections.id), corrections.run_id, run_ids)
