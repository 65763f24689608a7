"""The audit trail in the store: entries are appended one after the other and never change."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Select, insert, select, text

from biaswatch.shared.contracts.audit import (
    AuditAction,
    AuditedAct,
    AuditEntry,
    next_entry,
    written,
)
from biaswatch.shared.store.engine import (
    MOST_PARAMETERS,
    ScopeNow,
    everything,
    read_transaction,
    write_transaction,
)
from biaswatch.shared.store.tables import AUDIT

BEGINNING_OF_AN_ID = re.compile("[0-9a-f]{8,32}")
NEVER = datetime.min.replace(tzinfo=UTC)
TOKENS = (AuditAction.TOKEN_ADD, AuditAction.TOKEN_REMOVE)


@dataclass(frozen=True)
class AuditFilter:
    """Which entries are wanted; what is None does not matter."""

    subject: str | None = None
    actor: str | None = None
    action: str | None = None
    """An action, or its first word: `monitor` for all that is done to monitors."""
    since: datetime | None = None
    tenant: str | None = None


EVERY_ENTRY = AuditFilter()


class AuditTrail:
    """Appends and reads entries; a scope with a tenant sees that tenant's alone."""

    def __init__(self, engine: Engine, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._scope = scope

    def append(self, acts: Sequence[AuditedAct], at: datetime) -> list[AuditEntry]:
        """Append acts in their order, in one transaction; return their entries."""
        with write_transaction(self._engine) as connection:
            _lock(connection)
            return _append(connection, acts, at)

    def append_token_changes(
        self, known: Mapping[str, str], change: AuditedAct, at: datetime
    ) -> list[AuditEntry]:
        """Append what changed of the known tokens since this was last called, in any process.

        Parameters
        ----------
        known
            What each token may do, in words, by its name and the first digits of its verifier.
        change
            Who noticed; action, subject and details are filled in.
        at
            Now.
        """
        with write_transaction(self._engine) as connection:
            _lock(connection)
            before = _tokens_before(connection)
            gone = [name for name in sorted(before) if known.get(name) != before[name]]
            new = [name for name in sorted(known) if known[name] != before.get(name)]
            acts = [_token_act(change, TOKENS[1], name, before[name]) for name in gone]
            acts += [_token_act(change, TOKENS[0], name, known[name]) for name in new]
            return _append(connection, acts, at)

    def latest(self, most: int, wanted: AuditFilter = EVERY_ENTRY) -> list[AuditEntry]:
        """Return the latest entries that are wanted, the newest first."""
        query = self._query(wanted).order_by(AUDIT.c.number.desc()).limit(most)
        with read_transaction(self._engine) as connection:
            return [_entry(row) for row in connection.execute(query).mappings()]

    def all(self) -> Iterator[AuditEntry]:
        """Return every entry of every tenant, by number, as verifying it needs."""
        rows: Sequence[Mapping[Any, Any]] = ()
        last = -1
        while last < 0 or len(rows) == MOST_PARAMETERS:
            page = select(AUDIT).where(AUDIT.c.number > last).order_by(AUDIT.c.number)
            with read_transaction(self._engine) as connection:
                rows = connection.execute(page.limit(MOST_PARAMETERS)).mappings().all()
            if not rows:
                return
            yield from map(_entry, rows)
            last = rows[-1]["number"]

    def _query(self, wanted: AuditFilter) -> Select[Any]:
        query = select(AUDIT)
        if (tenant := self._scope().tenant or wanted.tenant) is not None:
            query = query.where(AUDIT.c.tenant == tenant)
        if wanted.subject is not None:
            query = query.where(_is_about(wanted.subject))
        if wanted.actor is not None:
            query = query.where(AUDIT.c.actor == wanted.actor)
        if wanted.action is not None:
            query = query.where(AUDIT.c.action.startswith(wanted.action, autoescape=True))
        if wanted.since is not None:
            query = query.where(AUDIT.c.at >= written(wanted.since))
        return query


def _is_about(subject: str) -> ColumnElement[bool]:
    """Return the condition that an entry is about it; an id may be given by its first digits."""
    if BEGINNING_OF_AN_ID.fullmatch(subject):
        return AUDIT.c.subject.startswith(subject)
    return AUDIT.c.subject == subject


def _lock(connection: Connection) -> None:
    """Let no other process append before this transaction ends; SQLite has locked already."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE audit_entry IN EXCLUSIVE MODE"))


def _append(connection: Connection, acts: Sequence[AuditedAct], at: datetime) -> list[AuditEntry]:
    query = select(AUDIT).order_by(AUDIT.c.number.desc()).limit(1)
    row = connection.execute(query).mappings().first()
    last = _entry(row) if row else None
    added: list[AuditEntry] = []
    for act in acts:
        last = next_entry(act, last, at)
        added.append(last)
    if added:
        connection.execute(insert(AUDIT), [_row(entry) for entry in added])
    return added


def _tokens_before(connection: Connection) -> dict[str, str]:
    query = select(AUDIT.c.action, AUDIT.c.subject, AUDIT.c.details).order_by(AUDIT.c.number)
    known: dict[str, str] = {}
    for row in connection.execute(query.where(AUDIT.c.action.in_([t.value for t in TOKENS]))):
        if row.action == AuditAction.TOKEN_ADD:
            known[row.subject] = json.loads(row.details).get("may", "")
        else:
            known.pop(row.subject, None)
    return known


def _token_act(change: AuditedAct, action: AuditAction, name: str, may: str) -> AuditedAct:
    said = {"action": action, "subject": name, "details": {"may": may}}
    return change.model_copy(update=said)


def _row(entry: AuditEntry) -> dict[str, Any]:
    details = json.dumps(entry.details, sort_keys=True)
    texts = {"at": written(entry.at), "action": entry.action.value, "details": details}
    return entry.model_dump() | texts


def _entry(row: Mapping[Any, Any]) -> AuditEntry:
    """Return a row's entry; one that was edited into nonsense is read too, and verified as such."""
    try:
        return AuditEntry.model_validate({**row, "details": json.loads(row["details"])})
    except ValueError:
        unread = {"at": NEVER, "details": {"unreadable": str(row["details"])}}
        return AuditEntry.model_construct(**{**row, **unread})
