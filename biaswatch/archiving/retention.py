"""Retention of answers, texts and numbers by tenant: a file, and what is due by it."""

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
    """Days of retention of each kind of data; None keeps it until a person acts."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    store: PositiveInt | None = None
    """Days of answers and measurements in the store, until they are archived."""
    texts: PositiveInt | None = None
    """Days of texts in the store and in the archive, until they are purged."""
    numbers: PositiveInt | None = None
    """Days of answers and measurements in the archive, until their files are removed."""


class Retention(BaseModel):
    """Content of a retention file."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    default: RetentionDays = RetentionDays()
    """For tenants that are not listed."""
    tenants: dict[Token, RetentionDays] = {}
    """By tenant; listed tenants inherit nothing from the default."""

    def days_of(self, tenant: str) -> RetentionDays:
        """Return the retention of a tenant."""
        return self.tenants.get(tenant, self.default)


def retention_of(path: Path) -> Retention:
    """Read a retention file.

    Raises
    ------
    UsageError
        It cannot be read, is empty, or would keep numbers for less time than the store.
    """
    fields = yaml_mapping(read_text(path, "retention file"), path, EXPECTED)
    retention = checked(Retention, fields, path)
    for name, days in {"default": retention.default, **retention.tenants}.items():
        if days.numbers and (days.store is None or days.numbers <= days.store):
            raise UsageError(
                f"{path}, {name}: `numbers` has to be more days than `store`, since only what is"
                " archived is removed."
            )
    return retention


def due_by_retention(store: Store, retention: Retention, now: datetime) -> list[ArchivableRun]:
    """Return the runs of every tenant that are due to be archived."""
    return [
        run
        for tenant in store.archived_runs.tenants()
        if (days := retention.days_of(tenant).store)
        for run in store.archived_runs.due(now - timedelta(days=days), [tenant])
    ]


def texts_due(store: Store, retention: Retention, now: datetime) -> dict[str, datetime]:
    """Return the time before which texts are due to be purged, by tenant."""
    return {
        tenant: now - timedelta(days=days)
        for tenant in store.archived_runs.tenants()
        if (days := retention.days_of(tenant).texts)
    }


def expired(
    store: Store, retention: Retention, now: datetime
) -> list[tuple[ArchivedRun, list[ArchiveFile]]]:
    """Return the archived runs whose files are all older than their retention, with the files."""
    expired_runs = []
    for run in store.archived_runs.all():
        days = retention.days_of(run.tenant).numbers
        if run.state is not ArchiveState.ARCHIVED or not days:
            continue
        oldest = (now - timedelta(days=days)).date().isoformat()
        files = store.archive_files.of_run(run.run_id)
        if files and all(file.day < oldest for file in files):
            expired_runs.append((run, files))
    return expired_runs
