"""Whatever befalls the platform in mid-run, with keys, a run finds the same, byte for byte."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from biaswatch.local.supervision import BusSupervision, free_bytes
from biaswatch.shared.contracts import Run
from tests.support.chaos_platform import SERVICES, ChaosPlatform, chaos_platform, now
from tests.support.exact_study import ExactStudy
from tests.support.hung_stores import hung_store
from tests.support.small_disk import SmallDisk, mounted_disk

HOUR_S = 3600.0
BEYOND_ACK_WAIT_S = 5.0
DISK_BYTES = 768 * 1024**2


@dataclass(frozen=True)
class Scene:
    """A run that is under way, and how hard it is treated."""

    platform: ChaosPlatform
    run: Run
    hold_s: float
    """How long what stops stays so."""
    kills: int
    disk: SmallDisk | None = None


async def killed_services_and_bus(scene: Scene) -> None:
    for number in range(scene.kills):
        scene.platform.kill_a_service()
        if number % 6 == 5:
            scene.platform.kill_the_bus()
        await asyncio.sleep(scene.platform.luck.uniform(0.2, 1.2))


async def wiped_bus(scene: Scene) -> None:
    for _ in range(max(1, scene.kills // 10)):
        await scene.platform.wipe_the_bus()
        await asyncio.sleep(scene.platform.luck.uniform(0.5, 3))


async def every_message_twice(scene: Scene) -> None:
    assert await scene.platform.repeat_every_message(scene.run) > 0
    await asyncio.sleep(1)
    assert await scene.platform.repeat_every_message(scene.run) > 0


async def hung_database(scene: Scene) -> None:
    with hung_store(scene.platform.store_url):
        await asyncio.sleep(scene.hold_s)


async def full_disk(scene: Scene) -> None:
    assert scene.disk
    folder = scene.disk.folder
    supervision = BusSupervision(scene.platform.server, folder, free_bytes=free_bytes)
    watching = asyncio.create_task(supervision.watch())
    scene.disk.fill()
    await asyncio.sleep(scene.hold_s)
    scene.disk.free()
    await scene.platform.diagnosed(scene.run)
    watching.cancel()


async def stopped_workers(scene: Scene) -> None:
    for service in SERVICES:
        await scene.platform.stop_for(service, BEYOND_ACK_WAIT_S)


async def turned_clock(scene: Scene) -> None:
    for ahead_s in (HOUR_S, 0, -HOUR_S, 0):
        scene.platform.turn_clock(ahead_s)
        await asyncio.sleep(2)
        scene.platform.kill_a_service()


async def two_of_each(scene: Scene) -> None:
    scene.platform.start()
    await killed_services_and_bus(scene)


Mischief = Callable[[Scene], Awaitable[None]]
COMMON: tuple[Mischief, ...] = (
    killed_services_and_bus,
    wiped_bus,
    every_message_twice,
    hung_database,
    full_disk,
)
MISCHIEF: tuple[Mischief, ...] = (*COMMON, stopped_workers, turned_clock, two_of_each)


@pytest.mark.parametrize("empty_store_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("mischief", COMMON, ids=lambda mischief: mischief.__name__)
async def test_a_run_finds_the_same_byte_for_byte(
    mischief: Mischief, store_url: str, tmp_path: Path
) -> None:
    await disturbed(mischief, store_url, tmp_path, probes=400, hold_s=4, kills=6)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mischief", MISCHIEF, ids=lambda mischief: mischief.__name__)
async def test_a_larger_run_finds_the_same_byte_for_byte_on_both_databases(
    mischief: Mischief, store_url: str, tmp_path: Path
) -> None:
    await disturbed(mischief, store_url, tmp_path, probes=1000, hold_s=60, kills=24)


async def disturbed(
    mischief: Mischief, store_url: str, folder: Path, *, probes: int, hold_s: float, kills: int
) -> None:
    """Do it in mid-run; the run ends with exactly what an undisturbed one finds."""
    study, began = ExactStudy(folder, probes), time.monotonic()
    with ExitStack() as stack:
        disk = None
        if mischief is full_disk:
            disk = stack.enter_context(mounted_disk(folder / "disk", DISK_BYTES))
        bus = disk.folder / "nats" if disk else None
        async with chaos_platform(folder, store_url, bus_folder=bus) as platform:
            platform.store.suites.keep(study.suite, now())
            platform.start(turned=mischief is turned_clock)
            run = study.run()
            await platform.publish(run)
            await platform.half_measured(run)
            await mischief(Scene(platform, run, hold_s, kills, disk))
            await platform.diagnosed(run)
            await platform.recorded(run, study.probes)
            assert study.faults(platform.store, run) == []
            assert [item.reason for item in await platform.dead()] == []
            assert platform.needed_a_person == []
    kind = store_url.partition(":")[0]
    print(
        f"\n{mischief.__name__}, {kind}: {probes} probes exact after"
        f" {time.monotonic() - began:.0f} s; {dict(platform.deaths)}"
    )
