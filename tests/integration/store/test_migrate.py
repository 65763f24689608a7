"""Migrations on both databases, and every way a store cannot be opened."""

import threading
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from biaswatch.shared.contracts import (
    RUN_GATHER,
    Claim,
    Comparison,
    Purpose,
    Response,
    RoundEvidence,
    Suite,
    SuiteProbe,
    WatchedPair,
    evidence_in,
    increments_in,
    outline_of,
)
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.engine import Scope, engine_of, explain_open_errors
from biaswatch.shared.store.store import _config
from biaswatch.shared.store.tables import metadata, unit_part_of
from tests.support.records import (
    AT,
    make_evidence,
    make_increment,
    make_monitor,
    make_probe,
    make_response,
)


def test_the_migrated_store_has_the_shape_the_code_expects(store_url: str) -> None:
    engine = engine_of(store_url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()


def test_migrating_again_keeps_everything(store_url: str) -> None:
    with Store.open(store_url) as store:
        store.records.write([make_response(1)])
    assert migrate(store_url) == migrate(store_url)
    with Store.open(store_url) as store:
        assert store.records.count(Response) == 1


def test_evidence_of_one_record_per_comparison_is_kept_in_few(empty_store_url: str) -> None:
    pairs = [WatchedPair(dimension="g", a="a", b=f"b{n}") for n in range(300)]
    watched = make_evidence().comparison.watched
    comparisons = [Comparison(watched=watched, pair=pair) for pair in pairs]
    increments = [make_increment(comparison=each) for each in comparisons]
    evidence = [make_evidence(comparison=each) for each in comparisons]
    engine = engine_of(empty_store_url)
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0015")
        for kind, records in (("increment", increments), ("evidence", evidence)):
            insert = f"""INSERT INTO {kind}
                (id, tenant, purpose, lane, run_id, at, monitor_id, body)
                VALUES (:id, 'default', 'monitor', 'all', :run, :at, :monitor, :body)"""
            for number, each in enumerate(records):
                body = each.model_dump_json(exclude_none=True)
                row = {"id": f"{number:032x}", "run": each.run_id, "at": AT, "body": body}
                connection.execute(text(insert), {**row, "monitor": each.monitor_id})
    engine.dispose()
    migrate(empty_store_url)
    with Store.open(empty_store_url) as store:
        found = list(store.records.read(RoundEvidence, run_id=evidence[0].run_id))
        assert store.records.missing(RoundEvidence, [each.id for each in found]) == set()
    assert {each.part: each.comparisons for each in found} == {0: 256, 1: 44}
    by_key = {each.comparison_key: each for each in evidence_in(found)}
    assert by_key == {each.comparison_key: each for each in evidence}
    assert {each.comparison_key for each in increments_in(found)} == by_key.keys()


def test_what_one_tenant_had_before_tenants_were_told_apart_is_the_defaults(
    empty_store_url: str,
) -> None:
    probe = SuiteProbe(key="a", prompt="Hello?")
    suite = Suite(name="tiny", extractors=("words",), probes=(probe,))
    engine = engine_of(empty_store_url)
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0013")
        body = make_monitor().model_dump_json(exclude={"id"})
        row = {"hash": suite.hash, "body": suite.model_dump_json(), "monitor": body, "at": AT}
        for statement in (
            "INSERT INTO suite (hash, name, at, body) VALUES (:hash, 'tiny', :at, :body)",
            "INSERT INTO purge (scope, key, at) VALUES ('unit', 'user-7', :at)",
            """INSERT INTO schedule (name, moment_ms, monitor_id, monitor, next_round, due_at)
            VALUES ('coasts', 1, 'm', :monitor, 3, :at)""",
        ):
            connection.execute(text(statement), row)
    engine.dispose()
    migrate(empty_store_url)
    with Store.open(empty_store_url) as store:
        mine = store.scoped(lambda: Scope(tenant="default")).suites
        assert mine.outline(suite.hash) == outline_of(suite)
        assert tuple(mine.every_probe(outline_of(suite))) == suite.probes
        assert store.scoped(lambda: Scope(tenant="other")).suites.outline(suite.hash) is None
        found = store.schedule.get("coasts")
        assert found is not None
        assert found.next_round == 3
        assert store.purges.so_far().covers(make_probe(1, unit_id="user-7"))


def test_suites_and_records_from_before_they_were_split_and_counted_are_all_there(
    empty_store_url: str,
) -> None:
    probes = tuple(
        SuiteProbe(key=f"p{n}", prompt=f"Say {n}.", set="s", groups={"side": "ab"[n % 2]})
        for n in range(7)
    )
    suite = Suite(name="tiny", extractors=("words",), claim=Claim.BANK, probes=probes)
    engine = engine_of(empty_store_url)
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0017")
        row = {"hash": suite.hash, "body": suite.model_dump_json(), "at": AT}
        for statement in (
            "INSERT INTO suite (hash, name, at, body) VALUES (:hash, 'tiny', :at, :body)",
            "INSERT INTO suite_tenant (hash, tenant) VALUES (:hash, 'default')",
        ):
            connection.execute(text(statement), row)
        insert = """INSERT INTO response (id, tenant, purpose, lane, run_id, at, probe_id, body)
            VALUES (:id, 'default', 'study', 'lane', 'run', :at, :id, '{}')"""
        for number in range(3):
            connection.execute(text(insert), {"id": f"{number:032x}", "at": AT})
    engine.dispose()
    migrate(empty_store_url)
    with Store.open(empty_store_url) as store:
        assert store.suites.outline(suite.hash) == outline_of(suite)
        assert tuple(store.suites.every_probe(outline_of(suite))) == suite.probes
        assert [each.group for each in store.suites.groups(suite.hash)] == ["a", "b"]
        assert store.suites.positions_of_groups(suite.hash, [1]) == [1, 3, 5]
        waiting: Any = {"deadline": AT, "now": AT, "context": {}, "cursors": ()}
        store.gathers(RUN_GATHER).begin("run", 3, **waiting)
        counted = store.counted_runs.of(["run"])["run"]
        assert counted.count(Response, Purpose.STUDY, "lane") == 3
        assert store.suites.keep(suite, AT) == suite.hash


def test_windows_from_before_ids_were_in_order_have_the_members_that_they_had(
    empty_store_url: str,
) -> None:
    run_id, answers = "b" * 32, [f"{number:032x}" for number in range(3)]
    engine = engine_of(empty_store_url)
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0026")
        window = """INSERT INTO traffic_window (run_id, monitor_id, begins, ends, fixed_at)
            VALUES (:run, :run, :at, :at, :at)"""
        taken = "INSERT INTO taken_answer VALUES (:run, :id, '1', :late)"
        connection.execute(text(window), {"run": run_id, "at": AT})
        rows = [{"run": run_id, "id": each, "late": each == answers[2]} for each in answers]
        connection.execute(text(taken), rows)
    engine.dispose()
    migrate(empty_store_url)
    with Store.open(empty_store_url) as store:
        assert list(store.window_answers.members(run_id) or ()) == answers[:2]


@pytest.mark.parametrize("unit", ["user-7", "ü'\"%s\\", "🙈 " * 50])
def test_texts_from_before_parts_of_units_are_purged_with_their_unit(
    empty_store_url: str, unit: str
) -> None:
    engine = engine_of(empty_store_url)
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0026")
        insert = """INSERT INTO text (record_id, field, kind, unit_id, at, body)
            VALUES (:id, 'text', 'response', :unit, :at, '""')"""
        for number, each in enumerate((unit, unit, f"{unit}0", None)):
            connection.execute(text(insert), {"id": f"{number:032x}", "unit": each, "at": AT})
    migrate(empty_store_url)
    with engine.begin() as connection:
        parts = connection.execute(text("SELECT unit_id, unit_part FROM text")).all()
        assert {row.unit_part for row in parts} == {
            unit_part_of(each) for each in (unit, f"{unit}0", None)
        }
        connection.execute(
            text("UPDATE text SET unit_part = NULL WHERE record_id = :id"), {"id": "0" * 32}
        )
    engine.dispose()
    with Store.open(empty_store_url) as store:
        assert store.purges.unit(unit, AT) == 2
        assert store.purges.unit(f"{unit}0", AT) == 1


def test_a_database_that_was_made_without_an_encoding_keeps_every_text(
    postgresql_server: Any,
) -> None:
    made = "CREATE DATABASE plain ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
    postgresql_server.psql(f"{made} TEMPLATE template0")
    url = postgresql_server.get_uri().replace("/postgres?", "/plain?")
    migrate(url)
    said = make_response(1, text="Zoë says: 東京")
    with Store.open(url) as store:
        store.records.write([said])
        [found] = store.records.get(Response, [said.id])
    assert found.text == said.text


def test_processes_that_start_at_once_migrate_once(empty_store_url: str) -> None:
    revisions: list[str] = []
    start = threading.Barrier(8)

    def begin() -> None:
        start.wait()
        revisions.append(migrate(empty_store_url))

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(revisions) == 8
    assert len(set(revisions)) == 1


def test_an_unprepared_store_says_what_to_run(empty_store_url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"not prepared.*Run `biaswatch provision`"):
        Store.open(empty_store_url)


def test_a_store_of_a_newer_version_is_neither_opened_nor_changed(store_url: str) -> None:
    engine = engine_of(store_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    for attempt in (Store.open, migrate):
        with pytest.raises(ConfigurationError, match=r"newer biaswatch \(revision 9999\)"):
            attempt(store_url)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://x", "must begin with sqlite:/// or postgresql://"),
        ("nonsense", "must begin with sqlite:/// or postgresql://"),
        ("sqlite://", "needs a file"),
    ],
)
def test_a_store_that_cannot_be_opened_is_one_sentence_without_the_password(
    url: str, sentence: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Store.open(url)
    assert sentence in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_database_that_does_not_answer_may_answer_the_next_time() -> None:
    for attempt in (Store.open, migrate):
        with pytest.raises(TransientError) as caught:
            attempt("postgresql://user:hunter2@127.0.0.1:1/x")
        assert "does not answer: connection" in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("said", ["starting up", "shutting down", "in recovery mode"])
def test_a_database_that_is_starting_or_stopping_is_waited_for(said: str) -> None:
    engine = engine_of("postgresql://user@127.0.0.1/x")
    refusal = Exception(f"connection failed: FATAL:  the database system is {said}")
    with pytest.raises(TransientError, match=said), explain_open_errors(engine):
        raise OperationalError("", {}, refusal)


def test_a_database_that_refuses_its_user_or_does_not_exist_needs_a_person(
    postgresql_server: Any,
) -> None:
    url = postgresql_server.get_uri()
    for wrong, sentence in (
        (url.replace("/postgres?", "/nowhere?"), '"nowhere" does not exist'),
        (url.replace("postgres:", "nobody:", 1).replace("//postgres@", "//nobody@"), "nobody"),
    ):
        with pytest.raises(ConfigurationError, match=sentence):
            Store.open(wrong)


def test_a_file_that_is_no_database_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all, but long enough to look like one" * 20)
    with pytest.raises(ConfigurationError, match=r"file is not a database.*BIASWATCH_STORE_URL"):
        Store.open(f"sqlite:///{path}")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match=r"folder .*file/below.* cannot be made"):
        Store.open(f"sqlite:///{tmp_path / 'file' / 'below' / 'store.db'}")
