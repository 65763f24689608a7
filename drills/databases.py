"""Drills about the store: backups restored in the middle of a run, and a failover."""

import asyncio
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from biaswatch.shared.bus.jetstream import Admin, provision
from biaswatch.shared.store import migrate
from drills.outcome import Drill, Outcome
from drills.scene import RUNS_ONLY, Scene, pause, scene
from tests.support.database_outages import OwnPostgresql, down_for, own_postgresql
from tests.support.silent_proxy import silent_proxy

OPERATIONS = Path("docs/operations.md")
STORE_SCRIPT = Path("deploy/helm/biaswatch/files/store.sh").absolute()
DATABASE = "biaswatch"
Step = Callable[[], object]


def documented(start: str) -> str:
    """Return the one command of docs/operations.md that begins so."""
    [line] = re.findall(rf"^{re.escape(start)}.*$", OPERATIONS.read_text(), re.MULTILINE)
    return str(line)


async def restored(folder: Path, store_url: str, dump: Step, restore: Step) -> Outcome:
    """Dump the store in the middle of a run, go on, lose the store, and restore it."""
    async with scene(folder, store_url, services=RUNS_ONLY) as here:
        interrupted = await here.begin_run()
        await here.platform.half_measured(interrupted)
        await asyncio.to_thread(dump)
        await here.platform.diagnosed(interrupted)
        since = await here.begin_run()
        await here.platform.diagnosed(since)
        codes = await asyncio.to_thread(here.platform.end)
        here.platform.store.engine.dispose()
        await asyncio.to_thread(restore)
        await prepare(here, store_url)
        here.platform.start(RUNS_ONLY)
        await here.platform.publish(since)
        exits = Outcome(exits=sum(code != 0 for code in codes))
        return exits + await here.outcome("dumped in mid-run, restored after two runs")


async def prepare(here: Scene, store_url: str) -> None:
    """Do what `biaswatch admin provision` does."""
    await asyncio.to_thread(migrate, store_url)
    async with here.platform.connection() as operator:
        await provision(Admin(operator))


async def backup_of_sqlite(folder: Path, _: int) -> Outcome:
    """Follow the procedure of docs/operations.md for one machine."""
    state = folder / "state"
    state.mkdir()
    url = f"sqlite:///{state / 'store.db'}"
    migrate(url)
    shell = partial(subprocess.run, shell=True, cwd=state, check=True)  # noqa: S604 - our own page
    dump, restore = documented("python3 -c"), documented("rm -f store.db")
    return await restored(folder, url, partial(shell, dump), partial(shell, restore))


def of_postgresql(server: OwnPostgresql, words: list[str]) -> list[str]:
    """Return a command of compose for a server of this machine."""
    program, *options = words[words.index("postgres") + 1 :]
    options[options.index("-h") + 1] = str(Path(server.socket).parent)
    options[options.index("-U") + 1] = "postgres"
    return [str(server.programs / program), *options]


async def backup_of_postgresql(folder: Path, _: int) -> Outcome:
    """Follow the procedure of docs/operations.md for compose."""
    with own_postgresql() as server:
        server.create(DATABASE)
        url, file = server.url(DATABASE), folder / "biaswatch.dump"
        migrate(url)

        def run(program: str) -> None:
            line = documented(f"docker-compose exec -T postgres {program}")
            command = of_postgresql(server, shlex.split(re.split("[<>]", line)[0]))
            dumping = program == "pg_dump"
            with file.open("wb" if dumping else "rb") as stream:
                given = {"stdout": stream} if dumping else {"stdin": stream}
                subprocess.run(command, check=True, **given)  # type: ignore[call-overload]

        return await restored(folder, url, partial(run, "pg_dump"), partial(run, "pg_restore"))


async def backup_by_the_script(folder: Path, _: int) -> Outcome:
    """Dump and restore as Kubernetes does, with `store.sh`."""
    with own_postgresql() as server:
        server.create(DATABASE)
        url = server.url(DATABASE)
        migrate(url)
        (folder / "url").write_text(url)
        path = f"{server.programs}:{os.environ['PATH']}"  # noqa: TID251 - passed on
        environment = {"PATH": path, "STORE_URL_FILE": str(folder / "url")}

        def script(*words: str) -> None:
            subprocess.run(["sh", str(STORE_SCRIPT), *words], env=environment, check=True)

        def restore() -> None:
            [dump] = folder.glob("store-*.dump")
            script("restore", str(dump))

        return await restored(folder, url, partial(script, "dump", str(folder)), restore)


async def failover(folder: Path, times: int) -> Outcome:
    """Let all connections die silently behind a proxy, while the server restarts."""
    with own_postgresql() as server:
        server.create(DATABASE)
        migrate(server.url(DATABASE))
        async with silent_proxy(server.socket) as proxy:
            url = server.url(DATABASE, proxy.port)
            settings = {"BIASWATCH_STORE_STATEMENT_S": "10"}
            async with scene(folder, server.url(DATABASE), through=url, settings=settings) as here:
                died = 0
                for number in range(times):
                    await here.begin_run()
                    await pause(here, 0.5, 3)
                    died += proxy.swallow()
                    mode = ("immediate", "fast")[number % 2]
                    await down_for(server, 2.0, killed=False, mode=mode)
                    await pause(here, 1, 5)
                note = f"{times} failovers, {died} connections silently dead"
                return await here.outcome(note)


DRILLS = (
    Drill("backup-sqlite", "restore of SQLite in the middle of a run", backup_of_sqlite, 1),
    Drill("backup-postgresql", "restore of PostgreSQL as with compose", backup_of_postgresql, 1),
    Drill("backup-kubernetes", "restore of PostgreSQL by store.sh", backup_by_the_script, 1),
    Drill("postgresql-failover", "PostgreSQL fails over behind a proxy", failover, 5),
)
