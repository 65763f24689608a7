"""Migrations on both databases, and every way a store cannot be opened."""

import threading
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from biaswatch.shared.contracts import Response
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.engine import engine_of, explain_open_errors
from biaswatch.shared.store.tables import metadata
from tests.support.records import make_response


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


def test_a_database_that_was_made_without_an_encoding_keeps_every_text(
    postgresql_server: Any,
) -> None:
    made = "CREATE DATABASE plain ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
    postgresql_server.psql(f"{made} TEMPLATE template0")
    url = postgresql_server.get_uri().replace("/postgres?", "/plain?")
    migrate(url)
    response = make_response(1, text="Zoë says: 東京")
    with Store.open(url) as store:
        store.records.write([response])
        [result] = store.records.get(Response, [response.id])
    assert result.text == response.text


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
    with pytest.raises(ConfigurationError, match=r"not prepared.*Run `biaswatch admin provision`"):
        Store.open(empty_store_url)


def test_a_store_of_another_version_is_neither_opened_nor_changed(store_url: str) -> None:
    engine = engine_of(store_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    for attempt in (Store.open, migrate):
        with pytest.raises(
            ConfigurationError, match=r"another version of biaswatch \(revision 9999\)"
        ):
            attempt(store_url)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://user:hunter2@host/x", "must begin with sqlite:/// or postgresql://"),
        ("nonsense://user:hunter2@host", "must begin with sqlite:/// or postgresql://"),
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


@pytest.mark.parametrize("state", ["starting up", "shutting down", "in recovery mode"])
def test_a_database_that_is_starting_or_stopping_is_waited_for(state: str) -> None:
    engine = engine_of("postgresql://user@127.0.0.1/x")
    refusal = Exception(f"connection failed: FATAL:  the database system is {state}")
    with pytest.raises(TransientError, match=state), explain_open_errors(engine):
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
