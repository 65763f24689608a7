"""A PostgreSQL that has fallen silent is an error after a while, and no wait for ever."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import text

from biaswatch.shared.errors import TransientError
from biaswatch.shared.store import Store, connections, migrate
from biaswatch.shared.store.engine import (
    engine_of,
    read_transaction,
    streaming_transaction,
    write_transaction,
)
from tests.support.databases import new_database
from tests.support.silent_proxy import SilentProxy, silent_proxy

STATEMENT_S = 1.0
SLEEP = text("SELECT pg_sleep(:seconds)")
SETTING = text("SELECT current_setting('statement_timeout')")


@dataclass(frozen=True)
class Way:
    """A database, and a proxy before it."""

    url: str
    direct_url: str
    proxy: SilentProxy


@pytest.fixture
async def way(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Way]:
    monkeypatch.setattr(connections, "PING_S", 1.0)
    monkeypatch.setattr(connections, "SILENT_AFTER_S", 1.0)
    direct = new_database("postgresql", request, tmp_path)
    parts = urlsplit(direct)
    database, [folder] = parts.path.removeprefix("/"), parse_qs(parts.query)["host"]
    async with silent_proxy(f"{folder}/.s.PGSQL.5432") as proxy:
        url = f"postgresql://postgres@127.0.0.1:{proxy.port}/{database}"
        yield Way(url, direct, proxy)


def seconds_slept(url: str, seconds: float, statement_s: float | None) -> float:
    engine = engine_of(url, statement_s)
    began = time.monotonic()
    try:
        with read_transaction(engine) as connection:
            connection.execute(SLEEP, {"seconds": seconds})
    finally:
        engine.dispose()
    return time.monotonic() - began


async def test_a_statement_whose_connection_dies_silently_is_an_error(way: Way) -> None:
    engine = engine_of(way.url, STATEMENT_S)

    def ask() -> None:
        with read_transaction(engine) as connection:
            connection.execute(text("SELECT 1"))
            assert asyncio.run_coroutine_threadsafe(swallowed(way), loop).result() == 1
            connection.execute(text("SELECT 2"))

    loop = asyncio.get_running_loop()
    with pytest.raises(TransientError, match=r"has not answered for 2 s; the connection is closed"):
        await asyncio.to_thread(ask)
    assert await asyncio.to_thread(one, way.url) == 1
    engine.dispose()


async def swallowed(way: Way) -> int:
    return way.proxy.swallow()


def one(url: str) -> int:
    engine = engine_of(url)
    with read_transaction(engine) as connection:
        result = int(connection.scalar(text("SELECT 1")) or 0)
    engine.dispose()
    return result


async def test_rested_connections_that_died_silently_are_opened_anew_and_cost_no_error(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "RESTED_S", 0.0)
    engine = engine_of(way.url, None)

    def ask() -> int:
        with read_transaction(engine) as connection:
            return int(connection.scalar(text("SELECT 1")) or 0)

    assert await asyncio.to_thread(ask) == 1
    assert way.proxy.swallow() == 1
    assert await asyncio.wait_for(asyncio.to_thread(ask), 60) == 1
    engine.dispose()


async def test_a_commit_that_is_never_answered_is_an_error(way: Way) -> None:
    engine = engine_of(way.url, STATEMENT_S)

    def write() -> None:
        with write_transaction(engine) as connection:
            connection.execute(text("CREATE TABLE t (n int)"))
            asyncio.run_coroutine_threadsafe(swallowed(way), loop).result()

    loop = asyncio.get_running_loop()
    with pytest.raises(TransientError, match="has not answered"):
        await asyncio.to_thread(write)
    engine.dispose()


async def test_locks_of_a_connection_that_died_silently_do_not_stop_others(way: Way) -> None:
    engine, other = engine_of(way.url, STATEMENT_S), engine_of(way.direct_url, 30.0)
    with write_transaction(other) as connection:
        connection.execute(text("CREATE TABLE t (n int)"))

    def lock() -> None:
        with write_transaction(engine) as connection:
            connection.execute(text("LOCK TABLE t"))
            asyncio.run_coroutine_threadsafe(swallowed(way), loop).result()
            connection.execute(text("SELECT 1"))

    def write() -> None:
        with write_transaction(other) as connection:
            connection.execute(text("INSERT INTO t VALUES (1)"))

    loop = asyncio.get_running_loop()
    with pytest.raises(TransientError, match="has not answered"):
        await asyncio.to_thread(lock)
    await asyncio.to_thread(write)
    engine.dispose()
    other.dispose()


async def test_a_reader_of_streamed_rows_may_take_longer_than_a_statement(way: Way) -> None:
    engine = engine_of(way.direct_url, 0.5)

    def read() -> int:
        with streaming_transaction(engine) as connection:
            connection.execute(text("SELECT 1"))
            time.sleep(1.0)
            return int(connection.scalar(text("SELECT 2")) or 0)

    assert await asyncio.to_thread(read) == 2
    engine.dispose()


async def test_a_database_that_accepts_connections_and_never_speaks_is_an_error(way: Way) -> None:
    way.proxy.swallow(new=True)
    more = {"connect_timeout": "2"}
    url = f"{way.url}?{'&'.join(f'{name}={value}' for name, value in more.items())}"
    with pytest.raises(TransientError, match="The store is not available"):
        await asyncio.to_thread(one, url)


async def test_the_server_ends_a_statement_that_takes_too_long_and_keeps_the_connection(
    way: Way,
) -> None:
    with pytest.raises(TransientError, match=r"statement timeout.*BIASWATCH_STORE_STATEMENT_S"):
        await asyncio.to_thread(seconds_slept, way.url, 30, STATEMENT_S)


async def test_without_a_limit_a_long_statement_is_let_finish(way: Way) -> None:
    assert await asyncio.to_thread(seconds_slept, way.url, 3, None) >= 3


@pytest.mark.parametrize(("statement_s", "setting"), [(60.0, "1min"), (0.5, "500ms"), (None, "0")])
async def test_the_server_is_told_how_long_a_statement_may_take(
    way: Way, statement_s: float | None, setting: str
) -> None:
    engine = engine_of(way.direct_url, statement_s)
    with read_transaction(engine) as connection:
        assert connection.scalar(SETTING) == setting
    engine.dispose()


async def test_parameters_of_the_url_count_more_than_those_of_every_connection(way: Way) -> None:
    engine = engine_of(f"{way.direct_url}&tcp_user_timeout=7000&keepalives_idle=9")
    with read_transaction(engine) as connection:
        raw = connection.connection.dbapi_connection
        assert raw is not None
        parameters = raw.info.get_parameters()
    assert (parameters["tcp_user_timeout"], parameters["keepalives_idle"]) == ("7000", "9")
    assert parameters["keepalives_interval"] == "5"
    engine.dispose()


async def test_a_probe_names_a_silent_and_a_read_only_database(way: Way) -> None:
    await asyncio.to_thread(migrate, way.direct_url)
    with await asyncio.to_thread(Store.open, way.url) as store:
        await asyncio.to_thread(store.check_available)
        database = way.url.rpartition("/")[2]
        for on in ("on", "off"):
            other = engine_of(way.direct_url)
            with write_transaction(other) as connection:
                connection.execute(text("SET LOCAL transaction_read_only = off"))
                connection.execute(
                    text(f"ALTER DATABASE {database} SET default_transaction_read_only = {on}")
                )
            other.dispose()
            if on == "on":
                with pytest.raises(TransientError, match=r"takes no writes.*read-only"):
                    await asyncio.to_thread(store.check_available)
        await asyncio.to_thread(store.check_available)
        way.proxy.swallow(new=True)
        with pytest.raises(TransientError, match="The store is not available"):
            await asyncio.to_thread(store.check_available)
