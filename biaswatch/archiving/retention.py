"""How long answers, texts and numbers are kept, by tenant: a file, and what is due by it."""

from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, PositiveInt

from biaswatch.shared.contracts.identity import Token
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.store import Store
from biaswatch.shared.store.archive_files import ArchiveFile
from biaswatch.shared.store.archived_runs import ArchivableRun, ArchivedRun, ArchiveState

EXPECTED = "a retention file is a mapping with `default` and, by name, `tenants`"


class RetentionDays(BaseModel):
    """How many days each kind of thing is kept; what is not named is kept until somebody acts."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    store: PositiveInt | None = None
    """Answers and measurements in the store; then they are archived."""
    texts: PositiveInt | None = None
    """What people and models wrote, in the store and in the archive; then it is purged."""
    numbers: PositiveInt | None = None
    """Answers and measurements in the archive, by their day; then their files are removed."""


class Retention(BaseModel):
    """What a retention file says."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    default: RetentionDays = RetentionDays()
    """For every tenant that is not named."""
    tenants: dict[Token, RetentionDays] = {}
    """By tenant; nothing of the default holds for those that are named."""

    def days_of(self, tenant: str) -> RetentionDays:
        """Return what holds for a tenant."""
        return self.tenants.get(tenant, self.default)


def retention_of(path: Path) -> Retention:
    """Read a retention file.

    Raises
    ------
    UsageError
        It cannot be read, says nothing, or would keep numbers for less time than the store.
    """
    fields = yaml_mapping(read_text(path, "retention file"), path, EXPECTED)
    found = checked(Retention, fields, path)
    for name, days in {"default": found.default, **found.tenants}.items():
        if days.numbers and (days.store is None or days.numbers <= days.store):
            raise UsageError(
                f"{path}, {name}: `numbers` has to be more days than `store`, since only what is"
                " archived is removed."
            )
    return found


def due_by_retention(store: Store, retention: Retention, now: datetime) -> list[ArchivableRun]:
    """Return the runs that are to be archived now, of every tenant by its own days."""
    found: list[ArchivableRun] = []
    for tenant in store.archived_runs.tenants():
        if days := retention.days_of(tenant).store:
            found += store.archived_runs.due(now - timedelta(days=days), [tenant])
    return found


def texts_due(store: Store, retention: Retention, now: datetime) -> dict[str, datetime]:
    """Return, by tenant, the moment before which texts are to be purged now."""
    return {
        tenant: now - timedelta(days=days)
        for tenant in store.archived_runs.tenants()
        if (days := retention.days_of(tenant).texts)
    }


def expired(
    store: Store, retention: Retention, now: datetime
) -> list[tuple[ArchivedRun, list[ArchiveFile]]]:
    """Return the archived runs of which every file is older than its tenant keeps numbers."""
    found = []
    for run in store.archived_runs.all():
        days = retention.days_of(run.tenant).numbers
        if run.state is not ArchiveState.ARCHIVED or not days:
            continue
        oldest = (now - timedelta(days=days)).date().isoformat()
        files = store.archive_files.of_run(run.run_id)
        if files and all(file.day < oldest for file in files):
            found.append((run, files))
    return found
