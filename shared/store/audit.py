"""The audit trail: entries are appended and never change."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, func, insert, select, text

from biaswatch.shared.contracts.audit import (
    AuditAction,
    AuditedAct,
    AuditEntry,
    next_entry,
    written,
)
from biaswatch.shared.store.database import MAX_KEYS, Database
from biaswatch.shared.store.monitoring_tables import AUDIT

ID_PREFIX = re.compile("[0-9a-f]{8,32}")
UNKNOWN_TIME = datetime.min.replace(tzinfo=UTC)
TOKEN_ACTIONS = (AuditAction.TOKEN_ADD.value, AuditAction.TOKEN_REMOVE.value)


@dataclass(frozen=True)
class AuditFilter:
    """Selects entries; None selects all."""

    subject: str | None = None
    actor: str | None = None
    action: str | None = None
    """An action, or its first word: `monitor` for all actions on monitors."""
    since: datetime | None = None
    tenant: str | None = None


EVERY_ENTRY = AuditFilter()


@dataclass(eq=False)
class AuditTrail:
    """Appends and reads entries; a scope with a tenant sees that tenant's only."""

    db: Database

    def append(self, acts: Sequence[AuditedAct], at: datetime) -> list[AuditEntry]:
        """Append acts in order, in one transaction; return their entries."""
        with self.db.writing() as connection:
            _lock(connection)
            return _append(connection, acts, at)

    def append_token_changes(
        self, known: Mapping[str, str], change: AuditedAct, at: datetime
    ) -> list[AuditEntry]:
        """Append the changes of tokens since the last call, by any process.

        Parameters
        ----------
        known
            Permissions of each token in words, by its name and the first digits of its verifier.
        change
            The actor; action, subject and details are filled in.
        at
            The current time.
        """
        with self.db.writing() as connection:
            _lock(connection)
            before = _last_tokens(connection)
            removed = [name for name in sorted(before) if known.get(name) != before[name]]
            added = [name for name in sorted(known) if known[name] != before.get(name)]
            remove, add = AuditAction.TOKEN_REMOVE, AuditAction.TOKEN_ADD
            acts = [_token_act(change, remove, name, before[name]) for name in removed]
            acts += [_token_act(change, add, name, known[name]) for name in added]
            return _append(connection, acts, at)

    def latest(self, limit: int, wanted: AuditFilter = EVERY_ENTRY) -> list[AuditEntry]:
        """Return the latest matching entries, newest first."""
        query = self._query(wanted).order_by(AUDIT.c.number.desc()).limit(limit)
        return [_entry(row) for row in self.db.rows(query)]

    def of_subjects(self, subjects: Iterable[str], action: str) -> list[AuditEntry]:
        """Return what was done to some subjects, newest first, without acts that failed."""
        query = self._query(AuditFilter(action=action)).where(AUDIT.c.failure.is_(None))
        entries = map(_entry, self.db.rows_in(query, AUDIT.c.subject, subjects))
        return sorted(entries, key=lambda entry: entry.number, reverse=True)

    def all(self) -> Iterator[AuditEntry]:
        """Return every entry of every tenant, by number, for verification."""
        last = -1
        query = select(AUDIT).order_by(AUDIT.c.number).limit(MAX_KEYS)
        while rows := self.db.rows(query.where(AUDIT.c.number > last)):
            yield from map(_entry, rows)
            last = rows[-1].number

    def _query(self, wanted: AuditFilter) -> Select[Any]:
        query = select(AUDIT)
        if (tenant := self.db.tenant or wanted.tenant) is not None:
            query = query.where(AUDIT.c.tenant == tenant)
        if wanted.subject is not None:
            is_prefix = ID_PREFIX.fullmatch(wanted.subject)
            starts = AUDIT.c.subject.startswith(wanted.subject)
            query = query.where(starts if is_prefix else AUDIT.c.subject == wanted.subject)
        if wanted.actor is not None:
            query = query.where(AUDIT.c.actor == wanted.actor)
        if wanted.action is not None:
            query = query.where(AUDIT.c.action.startswith(wanted.action, autoescape=True))
        if wanted.since is not None:
            query = query.where(AUDIT.c.at >= written(wanted.since))
        return query


def _lock(connection: Connection) -> None:
    """Block other writers until this transaction ends; SQLite has one writer."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE audit_entry IN EXCLUSIVE MODE"))


def _append(connection: Connection, acts: Sequence[AuditedAct], at: datetime) -> list[AuditEntry]:
    row = connection.execute(select(AUDIT).order_by(AUDIT.c.number.desc()).limit(1)).first()
    last = _entry(row) if row else None
    entries: list[AuditEntry] = []
    for act in acts:
        last = next_entry(act, last, at)
        entries.append(last)
    if entries:
        connection.execute(insert(AUDIT), [_row(entry) for entry in entries])
    return entries


def _last_tokens(connection: Connection) -> dict[str, str]:
    """Return the permissions of the tokens whose last entry is not a removal."""
    entries = AUDIT.c
    latest = (
        select(func.max(entries.number).label("number"))
        .where(entries.action.in_(TOKEN_ACTIONS))
        .group_by(entries.subject)
        .subquery()
    )
    query = select(entries.subject, entries.details).join(
        latest, and_(latest.c.number == entries.number, entries.action == TOKEN_ACTIONS[0])
    )
    return {
        row.subject: json.loads(row.details).get("may", "") for row in connection.execute(query)
    }


def _token_act(change: AuditedAct, action: AuditAction, name: str, may: str) -> AuditedAct:
    fields = {"action": action, "subject": name, "details": {"may": may}}
    return change.model_copy(update=fields)


def _row(entry: AuditEntry) -> dict[str, Any]:
    details = json.dumps(entry.details, sort_keys=True)
    texts = {"at": written(entry.at), "action": entry.action.value, "details": details}
    return entry.model_dump() | texts


def _entry(row: Row[tuple[Any, ...]]) -> AuditEntry:
    """Return a row's entry; an invalid row is returned unvalidated, and fails verification."""
    fields = row._asdict()
    try:
        return AuditEntry.model_validate({**fields, "details": json.loads(row.details)})
    except ValueError:
        unreadable = {"at": UNKNOWN_TIME, "details": {"unreadable": str(row.details)}}
        return AuditEntry.model_construct(**fields | unreadable)
