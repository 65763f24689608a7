"""A database that restarted is noticed before a rested connection is used, and costs no error."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from biaswatch.shared.store import connections
from biaswatch.shared.store.engine import engine_of, read_transaction
from tests.support.databases import new_database

ENDED = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = :pid")
MINE = text("SELECT pg_backend_pid()")


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database("postgresql", request, tmp_path)


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = engine_of(url)
    yield engine
    engine.dispose()


def backend(engine: Engine) -> int:
    with read_transaction(engine) as connection:
        return int(connection.scalar(MINE) or 0)


def end(url: str, pid: int) -> None:
    other = engine_of(url)
    with read_transaction(other) as connection:
        connection.execute(ENDED, {"pid": pid})
    other.dispose()


def test_a_connection_that_the_database_has_ended_is_opened_anew(
    engine: Engine, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "RESTED_S", 0.0)
    first = backend(engine)
    end(url, first)
    assert backend(engine) not in {0, first}


def test_one_that_was_in_use_a_moment_ago_is_not_tried(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "RESTED_S", 3600.0)
    tried: list[object] = []
    monkeypatch.setattr(engine.dialect, "do_ping", tried.append)
    assert backend(engine) == backend(engine)
    assert tried == []


def test_one_that_rested_and_answers_is_kept(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "RESTED_S", 0.0)
    assert backend(engine) == backend(engine)
