"""Runs whose answers are archived: of the answers it is said where they are."""

from datetime import datetime

from biaswatch.shared.errors import ArchivedError
from biaswatch.shared.store import Store
from biaswatch.shared.store.archived_runs import ArchivedRun, ArchiveState


def archived_sentence(found: ArchivedRun) -> str:
    """Return what became of the answers of a run, and what can be done."""
    if found.state is ArchiveState.EXPIRED:
        return (
            f"The answers were removed on {_day(found.at)}, as the retention says. Findings remain."
        )
    return (
        f"The {found.answers:,} answers with their measurements were archived on {_day(found.at)};"
        f" findings remain. `biaswatch archive restore {found.run_id}` brings them back."
    )


class AnswersInStore:
    """A dependency of routes that read the answers of a run: it refuses what is archived."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, run_id: str) -> None:
        """Raise ArchivedError where the answers of a run in the caller's scope are archived."""
        if found := self._store.archived_runs.find(run_id):
            raise ArchivedError(archived_sentence(found))


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
