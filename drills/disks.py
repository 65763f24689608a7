"""Drills about volumes that fill up: of bus, databases, answers in files, temporary files."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from biaswatch.local.supervision import BusSupervision, free_bytes
from biaswatch.shared.store import migrate
from drills.outcome import Drill, Outcome
from drills.scene import Scene, pause, scene
from tests.support.database_outages import own_postgresql
from tests.support.small_disk import SmallDisk, mounted_disk

DISK_BYTES = 768 * 1024**2
FULL_S = 20.0


async def fill(
    here: Scene, disk: SmallDisk, times: int, afterwards: Callable[[], None] = lambda: None
) -> Outcome:
    """Fill a disk while runs and traffic go on, and free it again."""
    for _ in range(times):
        await here.begin_run()
        await pause(here, 0.5, 2)
        disk.fill()
        await asyncio.sleep(FULL_S)
        disk.free()
        await asyncio.to_thread(afterwards)
        await pause(here, 1, 3)
    return await here.outcome(f"full for {FULL_S:g} s, {times} times")


async def full_bus(folder: Path, times: int) -> Outcome:
    """Fill the volume of nats-server, which its supervision starts again."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    with mounted_disk(folder / "disk", DISK_BYTES) as disk:
        async with scene(folder, url, bus_folder=disk.folder / "nats") as here:
            server = here.platform.server
            supervision = BusSupervision(server, disk.folder, free_bytes=free_bytes)
            watching = asyncio.create_task(supervision.watch())
            try:
                return await fill(here, disk, times)
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)


async def full_sqlite(folder: Path, times: int) -> Outcome:
    """Fill the volume of the store of one machine."""
    with mounted_disk(folder / "disk", DISK_BYTES) as disk:
        return await _full_store(folder, f"sqlite:///{disk.folder / 'store.db'}", disk, times)


async def full_postgresql(folder: Path, times: int) -> Outcome:
    """Fill the volume of PostgreSQL."""
    for path in (folder.parent, folder):
        path.chmod(0o755)  # the server runs as another user
    with ExitStack() as stack:
        disk = stack.enter_context(mounted_disk(folder / "disk", DISK_BYTES))
        server = stack.enter_context(own_postgresql(disk.folder))
        server.create("biaswatch")
        url = server.url("biaswatch")
        migrate(url)
        async with scene(folder, url) as here:
            # Where it ended for lack of space, its supervisor starts it again.
            return await fill(here, disk, times, server.start)


async def full_answer_files(folder: Path, times: int) -> Outcome:
    """Fill the volume with the answers of live systems in files."""
    with mounted_disk(folder / "disk", DISK_BYTES) as disk:
        answers = str(disk.folder / "answers")
        settings = {"BIASWATCH_RECORDER_ANSWER_FILES": answers, "BIASWATCH_RECORDER_FILE_S": "1"}
        return await _full_store(folder, f"sqlite:///{folder / 'store.db'}", disk, times, settings)


async def full_scratch(folder: Path, times: int) -> Outcome:
    """Fill the volume of temporary files, where windows of traffic are read."""
    with mounted_disk(folder / "disk", DISK_BYTES) as disk:
        url = f"sqlite:///{folder / 'store.db'}"
        return await _full_store(folder, url, disk, times, {"TMPDIR": str(disk.folder)})


async def _full_store(
    folder: Path, url: str, disk: SmallDisk, times: int, settings: Mapping[str, str] | None = None
) -> Outcome:
    migrate(url)
    async with scene(folder, url, settings=settings) as here:
        return await fill(here, disk, times)


DRILLS = (
    Drill("full-disk-bus", "the bus's volume is full", full_bus, 3),
    Drill("full-disk-sqlite", "the volume of SQLite is full", full_sqlite, 3),
    Drill("full-disk-postgresql", "the volume of PostgreSQL is full", full_postgresql, 3),
    Drill("full-disk-scratch", "the volume of temporary files is full", full_scratch, 3),
    Drill("full-disk-files", "the volume of answers in files is full", full_answer_files, 3),
)
