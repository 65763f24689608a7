"""Names, tags and notes of runs, kept in the audit trail: the latest entry counts."""

from collections.abc import Iterable
from dataclasses import dataclass

from biaswatch.shared.contracts import AuditAction, AuditEntry
from biaswatch.shared.requests.run_views import RunProgress
from biaswatch.shared.requests.runs import RunDescription
from biaswatch.shared.store import Store
from biaswatch.shared.store.audit import AuditFilter

ACTS_ON_RUNS = "run."
MAX_DESCRIPTIONS = 10_000
"""Latest descriptions of a tenant that names and words are looked up in."""


@dataclass(frozen=True)
class RunDescriptions:
    """Blocking queries of what people call runs; call them in a thread."""

    store: Store

    def added_to(self, runs: Iterable[RunProgress]) -> list[RunProgress]:
        """Return runs with their descriptions and who started them."""
        runs = list(runs)
        entries = self.store.audit.of_subjects({run.run_id for run in runs}, ACTS_ON_RUNS)
        described = _latest(entries)
        starts = (entry for entry in entries if entry.action is AuditAction.RUN_START)
        owners = {entry.subject: entry.actor for entry in starts}  # the first start comes last
        return [
            run.model_copy(
                update={
                    "described": described.get(run.run_id, run.described),
                    "owner": owners.get(run.run_id, ""),
                }
            )
            for run in runs
        ]

    def named(self, name: str) -> list[str]:
        """Return the ids of the runs with a name."""
        return [run_id for run_id, run in self._every().items() if run.name == name]

    def about(self, text: str) -> list[str]:
        """Return the ids of the runs whose name, tags or note have a text, the last noted first."""
        return [run_id for run_id, run in self._every().items() if run.has(text)]

    def _every(self) -> dict[str, RunDescription]:
        wanted = AuditFilter(action=AuditAction.RUN_DESCRIBE)
        return _latest(self.store.audit.latest(MAX_DESCRIPTIONS, wanted))


def _latest(entries: Iterable[AuditEntry]) -> dict[str, RunDescription]:
    """Return the description of each run, from entries with the newest first."""
    described: dict[str, RunDescription] = {}
    for entry in entries:
        if entry.action is AuditAction.RUN_DESCRIBE and entry.failure is None:
            described.setdefault(entry.subject, RunDescription.of(entry.details))
    return described
