"""Migrations on both databases, and every way a store cannot be opened."""

import threading
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from shared.contracts import Response
from shared.errors import ConfigurationError
from shared.store import Store, migrate
from shared.store.engine import engine_of
from shared.store.tables import metadata
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
        ("postgresql://user:hunter2@127.0.0.1:1/x", "cannot be opened: connection"),
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


def test_a_file_that_is_no_database_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all, but long enough to look like one" * 20)
    with pytest.raises(ConfigurationError, match=r"file is not a database.*BIASWATCH_STORE_URL"):
        Store.open(f"sqlite:///{path}")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match=r"folder .*file/below.* cannot be made"):
        Store.open(f"sqlite:///{tmp_path / 'file' / 'below' / 'store.db'}")
