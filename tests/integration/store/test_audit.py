"""The audit trail on both databases: append-only, one chain over all processes, edits found."""

import threading
from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DatabaseError

from biaswatch.shared.contracts import AuditAction
from biaswatch.shared.contracts.audit import faults_of
from biaswatch.shared.store import Store
from biaswatch.shared.store.audit import AuditFilter
from biaswatch.shared.store.database import Scope
from biaswatch.shared.store.engine import engine_of
from tests.support.records import make_act

NOW = datetime(2026, 2, 1, 3, 0, 0, 123456, tzinfo=UTC)


def unlocked(connection: Connection) -> None:
    """Do what an attacker with the database's password would: take the protection away."""
    if connection.dialect.name == "sqlite":
        for verb in ("update", "delete"):
            connection.execute(text(f"DROP TRIGGER audit_entry_no_{verb}"))
    else:
        connection.execute(text("DROP TRIGGER audit_entry_append_only ON audit_entry"))


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_entry SET actor = 'nobody'", "DELETE FROM audit_entry"]
)
def test_the_database_refuses_to_change_or_delete_an_entry(
    store: Store, store_url: str, statement: str
) -> None:
    [entry] = store.audit.append([make_act()], NOW)
    engine = engine_of(store_url)
    with pytest.raises(DatabaseError, match="append-only"), engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()
    assert list(store.audit.all()) == [entry]


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("UPDATE audit_entry SET actor = 'nobody' WHERE number = 3", 3),
        ("UPDATE audit_entry SET at = 'never' WHERE number = 2", 2),
        ("UPDATE audit_entry SET details = 'broken' WHERE number = 4", 4),
        ("UPDATE audit_entry SET action = 'monitor.vanish' WHERE number = 4", 4),
        ("DELETE FROM audit_entry WHERE number = 3", 3),
        ("DELETE FROM audit_entry WHERE number = 5", 5),
        ("DELETE FROM audit_entry WHERE number > 2", 3),
        ("DELETE FROM audit_entry", 1),
    ],
)
def test_who_gets_round_the_database_is_found(
    store: Store, store_url: str, statement: str, number: int
) -> None:
    for name in range(5):
        store.audit.append([make_act(subject=f"monitor-{name}")], NOW)
    anchors = [(item.number, item.hash) for item in store.audit.all()]
    assert faults_of(store.audit.all(), anchors) == []
    engine = engine_of(store_url)
    with engine.begin() as connection:
        unlocked(connection)
        connection.execute(text(statement))
    engine.dispose()
    assert number in {fault.number for fault in faults_of(store.audit.all(), anchors)}


def test_a_truncated_trail_that_begins_again_is_found(store: Store, store_url: str) -> None:
    store.audit.append([make_act(), make_act()], NOW)
    anchors = [(item.number, item.hash) for item in store.audit.all()]
    engine = engine_of(store_url)
    with engine.begin() as connection:
        unlocked(connection)
        connection.execute(text("DELETE FROM audit_entry"))
    engine.dispose()
    again = store.audit.append([make_act(actor="nobody")] * 3, NOW)
    anchors += [(item.number, item.hash) for item in again]
    assert {fault.number for fault in faults_of(store.audit.all(), anchors)} == {1, 2}


def test_processes_that_append_at_once_make_one_chain(store_url: str) -> None:
    def append(name: int) -> None:
        with Store.open(store_url) as own:
            for _ in range(5):
                own.audit.append([make_act(actor=f"process {name}")], NOW)

    threads = [threading.Thread(target=append, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Store.open(store_url) as store:
        assert [item.number for item in store.audit.all()] == list(range(1, 21))
        assert faults_of(store.audit.all(), []) == []


def test_entries_are_found_by_what_they_concern_and_the_newest_comes_first(store: Store) -> None:
    paused = make_act(action=AuditAction.MONITOR_PAUSE)
    cancelled = make_act(action=AuditAction.RUN_CANCEL, subject="f" * 32, actor="ben")
    other = make_act(tenant="hiring", actor="carl")
    store.audit.append([paused, cancelled, other], NOW)

    def who(wanted: AuditFilter, of: Store = store) -> list[str]:
        return [item.actor for item in of.audit.latest(10, wanted)]

    assert who(AuditFilter()) == ["carl", "ben", "anna"]
    assert who(AuditFilter(subject="coasts")) == ["carl", "anna"]
    assert who(AuditFilter(action="run")) == ["ben"]
    assert who(AuditFilter(actor="anna")) == ["anna"]
    assert who(AuditFilter(since=datetime(2027, 1, 1, tzinfo=UTC))) == []
    seen = store.scoped(lambda: Scope(tenant="default"))
    assert who(AuditFilter(tenant="hiring"), seen) == ["ben", "anna"]


def test_an_id_is_found_by_its_first_digits_and_a_name_by_all_of_it(store: Store) -> None:
    run = "0123456789ab" + "c" * 20
    for subject in (run, "coasts-and-more", "coasts"):
        store.audit.append([make_act(subject=subject)], NOW)
    result = [
        [item.subject for item in store.audit.latest(9, AuditFilter(subject=wanted))]
        for wanted in (run, run[:12], run[:7], "coasts")
    ]
    assert result == [[run], [run], [], ["coasts"]]


def test_changed_tokens_are_noted_once_by_however_many_gateways(store: Store) -> None:
    noticed = make_act(actor="the tokens file", tenant=None)
    tokens = {"anna (1a2b3c4d)": "run of default", "ben (5e6f7a8b)": "read of default"}

    def note(known: dict[str, str]) -> list[tuple[str, str]]:
        result = store.audit.append_token_changes(known, noticed, NOW)
        return [(item.action.value, item.subject) for item in result]

    assert note(tokens) == [("token.add", token) for token in sorted(tokens)]
    assert note(tokens) == []
    more = {**tokens, "ben (5e6f7a8b)": "admin of default"}
    ben = "ben (5e6f7a8b)"
    assert note(more) == [("token.remove", ben), ("token.add", ben)]
    assert note({}) == [("token.remove", token) for token in sorted(tokens)]
