"""Drills about readiness: a dependency is away, and every service that needs it has to say so."""

import asyncio
import inspect
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from signal import SIGCONT, SIGSTOP

import httpx2

from biaswatch.local.platform import SERVICES
from biaswatch.shared.contracts import Response
from biaswatch.shared.store import migrate
from drills.archives import KEYS, address_on, object_store
from drills.outcome import Drill, Outcome
from drills.scene import Scene, scene
from tests.support.database_outages import OwnPostgresql, own_postgresql
from tests.support.silent_proxy import SilentProxy, silent_proxy
from tests.support.waiting import eventually

NAMED_WITHIN_S, STATUS_WITHIN_S, BACK_WITHIN_S, LOOK_S = 10.0, 60.0, 60.0, 0.25
ALL = tuple(name for name in SERVICES if name != "simulator")
WITHOUT_BUS = "gateway"
"""The service that stays ready without the bus, because it shows what is stored."""
BUS, STORE = "bus_trouble", "store_trouble"
DATABASE = "biaswatch"
Step = Callable[[], object]
"""Returns at once, or what has to be awaited."""
Check = Callable[[Scene, str], Awaitable[str]]
"""Returns what is wrong with a service, or ""."""


@dataclass(frozen=True)
class Outage:
    """A dependency that is taken away and brought back."""

    name: str
    field: str
    """The field of /readyz with the reason."""
    in_status: str
    """A part of the answer to `status`."""
    take: Step
    bring: Step
    services: tuple[str, ...] = ALL
    """The services that become unready."""


async def bus_or_database_away(folder: Path, times: int) -> Outcome:
    """Take the bus and then the database away from all services, in several ways each."""
    async with AsyncExitStack() as stack:
        server = stack.enter_context(own_postgresql())
        server.create(DATABASE)
        migrate(server.url(DATABASE))
        proxy = await stack.enter_async_context(silent_proxy(server.socket))
        through = server.url(DATABASE, proxy.port)
        started = scene(folder, server.url(DATABASE), services=ALL, through=through)
        here = await stack.enter_async_context(started)
        return await _each(here, _of_bus_and_database(here, server, proxy) * times)


def _of_bus_and_database(here: Scene, server: OwnPostgresql, proxy: SilentProxy) -> list[Outage]:
    bus, apart = here.platform.server, partial(partial, asyncio.to_thread)
    away, silent = "The store is not available", partial(proxy.swallow, new=True)
    hang, go_on = (lambda n=number: os.kill(bus.pid, n) for number in (SIGSTOP, SIGCONT))
    write, read_only = (apart(server.read_only, on) for on in (False, True))
    return [
        Outage("bus hangs", BUS, '"bus"', hang, go_on),
        Outage("bus killed", BUS, '"bus"', apart(bus.kill), apart(bus.start)),
        Outage("database stopped", STORE, away, apart(server.stop, "fast"), apart(server.start)),
        Outage("database silent", STORE, away, silent, proxy.serve_new),
        Outage("database read-only", STORE, "read-only", read_only, write),
    ]


async def answer_files_away(folder: Path, times: int) -> Outcome:
    """Let the object store fall silent that answers of live systems are written to."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    async with object_store() as proxy:
        settings = {
            "BIASWATCH_RECORDER_ANSWER_FILES": address_on(proxy, "live"),
            "BIASWATCH_RECORDER_FILE_S": "1", **KEYS,
        }  # fmt: skip
        async with scene(folder, url, services=ALL, settings=settings) as here:
            files = here.platform.store.answer_files
            await eventually(lambda: files.count(Response.kind))
            silent = partial(proxy.swallow, new=True)
            outage = Outage(
                "object store silent", STORE, "does not answer", silent, proxy.serve_new,
                ("recorder",),
            )  # fmt: skip
            return await _each(here, [outage] * times)


async def _each(here: Scene, outages: Sequence[Outage]) -> Outcome:
    counted = Outcome(faults=_faults("at first", await _until(here, ALL, _unready, BACK_WITHIN_S)))
    named = []
    for outage in outages:
        outcome, named_s = await _away(here, outage)
        counted += outcome
        named.append(f"{outage.name} {named_s:.1f} s")
    return counted + await here.outcome(f"named after: {', '.join(named)}")


async def _away(here: Scene, outage: Outage) -> tuple[Outcome, float]:
    """Return what is wrong during and after an outage, and after what time all named it."""
    await _done(outage.take)
    began = time.monotonic()
    try:
        unnamed = await _until(here, outage.services, partial(_unnamed, outage), NAMED_WITHIN_S)
        named_s = time.monotonic() - began
        is_named = partial(_not_in_status, outage)
        unnamed |= await _until(here, ("status",), is_named, STATUS_WITHIN_S)
    finally:
        await _done(outage.bring)
    unready = await _until(here, ALL, _unready, BACK_WITHIN_S)
    faults = (*_faults(outage.name, unnamed), *_faults(f"after {outage.name}", unready))
    return Outcome(2 * len(outage.services) + 1, faults=faults), named_s


async def _done(step: Step) -> None:
    if inspect.isawaitable(result := step()):
        await result


def _faults(when: str, wrong: dict[str, str]) -> tuple[str, ...]:
    return tuple(f"{when}: {name} {what}" for name, what in wrong.items())


async def _until(
    here: Scene, services: Sequence[str], check: Check, within_s: float
) -> dict[str, str]:
    """Check services until nothing is wrong, for a limited time; return what is."""
    deadline = time.monotonic() + within_s
    while True:
        reasons = await asyncio.gather(*(check(here, service) for service in services))
        wrong = {name: what for name, what in zip(services, reasons, strict=True) if what}
        if not wrong or time.monotonic() > deadline:
            return wrong
        await asyncio.sleep(LOOK_S)


async def _unready(here: Scene, service: str) -> str:
    code, state = await here.platform.readiness(service)
    return "" if code == 200 else f"is not ready: {state['why']}"


async def _unnamed(outage: Outage, here: Scene, service: str) -> str:
    code, state = await here.platform.readiness(service)
    unready = code == 503 or (service == WITHOUT_BUS and outage.field == BUS)
    return "" if unready and state[outage.field] else f"answers {code}, {state['why']}"


async def _not_in_status(outage: Outage, here: Scene, _: str) -> str:
    """Check what `biaswatch status` reads."""
    async with httpx2.AsyncClient(timeout=STATUS_WITHIN_S) as client:
        try:
            text = (await client.get(f"{here.platform.gateway_url}/v1/status")).text
        except httpx2.HTTPError as error:
            return f"does not answer ({error!r})"
    return "" if outage.in_status in text else f"says {text[:500]}"


DRILLS = (
    Drill("readiness", "bus or database are away: who says so", bus_or_database_away, 1, 1800),
    Drill("readiness-files", "the files of answers are away: who says so", answer_files_away, 1),
)
