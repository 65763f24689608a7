"""Drills about an object store that is away while answers are archived, or written to it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.web import free_port
from biaswatch.shared.store import Store, migrate
from drills.outcome import Drill, NotRunError, Outcome
from drills.scene import pause, scene
from tests.support.archived import answers_in, keep_ended_run
from tests.support.commands import CommandLine
from tests.support.silent_proxy import SilentProxy, silent_proxy
from tests.support.waiting import eventually

MOTO = Path(".venv-engines/bin/moto_server")
HERE, BUCKET = "127.0.0.1", "lake"
KEYS = {
    "AWS_ACCESS_KEY_ID": "drill",
    "AWS_SECRET_ACCESS_KEY": "drill",
    "AWS_EC2_METADATA_DISABLED": "true",  # a machine without metadata answers late
}
BEFORE = "2026-02-01"
AWAY_S = 30.0
ENDS_WITHIN_S = 300.0
REFUSED_CODES = (0, 1, 2, TransientError.exit_code)


@asynccontextmanager
async def object_store() -> AsyncIterator[SilentProxy]:
    """Run a server that speaks S3 behind a proxy while the context lasts."""
    if not MOTO.exists():
        raise NotRunError("no S3 server; `make .venv-engines/.installed` installs one")
    port = free_port(HERE)
    server = subprocess.Popen(
        [MOTO, "-H", HERE, "-p", str(port)], stdout=subprocess.DEVNULL, stderr=sys.stderr
    )
    try:
        async with httpx2.AsyncClient(base_url=f"http://{HERE}:{port}") as client:

            async def answers() -> bool:
                try:
                    return (await client.put(f"/{BUCKET}")).status_code == 200
                except httpx2.TransportError:
                    return False

            await eventually(answers)
        async with silent_proxy(f"{HERE}:{port}") as proxy:
            yield proxy
    finally:
        server.terminate()
        server.wait()


def address_on(proxy: SilentProxy, folder: str) -> str:
    """Return the address of a folder, by way of the proxy."""
    query = f"endpoint_override={HERE}:{proxy.port}&scheme=http&region=us-east-1"
    return f"s3://{BUCKET}/{folder}?{query}"


async def away_while_archiving(folder: Path, times: int) -> Outcome:
    """Let the object store fall silent while `archive move` works; then do it again."""
    url = f"sqlite:///{folder / 'state' / 'store.db'}"
    migrate(url)
    biaswatch = CommandLine(folder / "state", **KEYS)
    counted = Outcome()
    async with object_store() as proxy:
        to = ("admin", "archive", "move", "--before", BEFORE, "--to", address_on(proxy, "archive"))
        with Store.open(url) as store:
            run_id = keep_ended_run(store, answers=600)
            before = {record.id for record in answers_in(store, run_id)}
            for number in range(times):
                counted += await _interrupted(biaswatch, to, proxy, 0.5 * number)
            again = await asyncio.to_thread(biaswatch, *to)
            moved = len(answers_in(store, run_id))
            back = await asyncio.to_thread(biaswatch, "admin", "archive", "restore", run_id)
            after = [record.id for record in answers_in(store, run_id)]
    faults = [done.stderr.strip()[-300:] for done in (again, back) if done.returncode]
    faults += [f"{moved} records stayed in the store."] if moved else []
    lost, twice = len(before - set(after)), len(after) - len(set(after))
    note = f"S3 silent {times} times during a move"
    return counted + Outcome(len(before), lost, twice, faults=tuple(faults), note=note)


async def _interrupted(
    biaswatch: CommandLine, words: tuple[str, ...], proxy: SilentProxy, after_s: float
) -> Outcome:
    """Start a command, and let the object store fall silent; the command has to end by itself."""
    process = biaswatch.start(*words)
    await eventually(lambda: proxy.connections or process.poll() is not None)
    await asyncio.sleep(after_s)
    proxy.swallow(new=True)
    try:
        _, complaint = await asyncio.to_thread(process.communicate, ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return Outcome(exits=1, note=f"`archive move` hung for {ENDS_WITHIN_S:g} s")
    finally:
        proxy.serve_new()
    bad = "Traceback" in complaint or process.returncode not in REFUSED_CODES
    return Outcome(1, faults=(complaint.strip()[-300:],) if bad else ())


async def away_while_recording(folder: Path, times: int) -> Outcome:
    """Let the object store fall silent while answers of live systems are written to it."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    os.environ.update(KEYS)  # noqa: TID251 - this process reads the files too
    async with object_store() as proxy:
        settings = {
            "BIASWATCH_RECORDER_ANSWER_FILES": address_on(proxy, "live"),
            "BIASWATCH_RECORDER_FILE_S": "1", **KEYS,
        }  # fmt: skip
        async with scene(folder, url, settings=settings) as here:
            for _ in range(times):
                await here.begin_run()
                await pause(here, 2, 4)
                proxy.swallow(new=True)
                await asyncio.sleep(AWAY_S)
                proxy.serve_new()
                await pause(here, 2, 4)
            return await here.outcome(f"S3 silent for {AWAY_S:g} s, {times} times")


DRILLS = (
    Drill("s3-archiving", "S3 falls silent during `archive move`", away_while_archiving, 3, 1800),
    Drill("s3-answer-files", "S3 falls silent while answers are written", away_while_recording, 2),
)
