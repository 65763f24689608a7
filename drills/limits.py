"""Drills about limits: of memory, as containers have them, and of connections."""

import resource
import time
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import httpx2

from benchmarks.gateway_memory import GatewayUnderTest, chunked, repeated
from benchmarks.memory_limits import deployed_limit_mib, memory_groups
from biaswatch.shared.runtime.process_limits import raise_open_files
from biaswatch.shared.store import migrate
from drills.crowd import slow_crowd
from drills.outcome import Drill, NotRunError, Outcome
from drills.scene import SERVICES, Scene, pause, scene

ATTACKS = (
    ("400 MB of [1],", b"[1],", 400_000_000, b"["),
    ("60 MB of empty answers", b"{},", 60_000_000, b'{"source":"support","responses":['),
    ("60 MB of nested lists", b"[", 60_000_000, b'{"responses":[{"a":'),
)


async def memory_limits(folder: Path, times: int) -> Outcome:
    """Run services in control groups with the memory that the chart allows them."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    async with AsyncExitStack() as stack:
        limits = {name: deployed_limit_mib(name) for name in SERVICES}
        try:
            groups = stack.enter_context(memory_groups(limits))
        except (SystemExit, OSError) as error:
            raise NotRunError(f"no control groups of memory ({error})") from None
        prefixes = {name: group.command_prefix for name, group in groups.items()}
        here = await stack.enter_async_context(scene(folder, url, probes=1000, prefixes=prefixes))
        for _ in range(times):
            await here.begin_run()
            await _attack(here)
        counted = await here.outcome(f"cgroups of {limits} MiB")
        killed = {name: group.killed for name, group in groups.items() if group.killed}
        faults = (f"The kernel killed for lack of memory: {killed}.",) if killed else ()
        return counted + Outcome(faults=faults)


async def _attack(here: Scene) -> None:
    """Send the gateway requests that are larger than it allows."""
    port = int(here.platform.gateway_url.rpartition(":")[2])
    gateway = GatewayUnderTest(port, 0, "", here.platform.server.url)
    for _, piece, size, first in ATTACKS:
        sending = chunked("/v1/responses", partial(repeated, piece, size, first))
        await gateway.send(sending)


CONNECTIONS = 10_000
HELD_S = 60.0
OWN_FILES = 500


async def slow_connections(folder: Path, _: int) -> Outcome:
    """Hold 10,000 connections that send a byte now and then, beside honest clients."""
    raise_open_files()
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < CONNECTIONS + OWN_FILES:
        raise NotRunError(
            f"a process may open {soft} files here; {CONNECTIONS} connections need more"
        )
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    async with scene(folder, url) as here:
        port = int(here.platform.gateway_url.rpartition(":")[2])
        async with slow_crowd(port, CONNECTIONS) as counts:
            await here.begin_run()
            slowest, failed, asked = await _ask_honestly(here)
        most, opened = counts
        note = (
            f"{most} connections at once, {opened} opened, {asked} honest requests,"
            f" the slowest {slowest:.1f} s"
        )
        faults = (f"{failed} of {asked} honest requests failed.",) if failed else ()
        return await here.outcome(note) + Outcome(asked, faults=faults)


async def _ask_honestly(here: Scene) -> tuple[float, int, int]:
    """Ask for the list of runs once a second; return the slowest, how many failed, and all."""
    slowest, failed, asked = 0.0, 0, 0
    deadline = time.monotonic() + HELD_S
    async with httpx2.AsyncClient(base_url=here.platform.gateway_url, timeout=60) as client:
        while time.monotonic() < deadline:
            began, asked = time.monotonic(), asked + 1
            try:
                failed += (await client.get("/v1/runs")).status_code != 200
            except httpx2.HTTPError as error:
                print(f"again: {error!r}", flush=True)
                failed += 1
            slowest = max(slowest, time.monotonic() - began)
            await pause(here, 0.5, 1.5)
    return slowest, failed, asked


DRILLS = (
    Drill("memory-limits", "services in the memory that the chart allows", memory_limits, 2),
    Drill("slow-connections", "10,000 slow connections to the gateway", slow_connections, 1),
)
