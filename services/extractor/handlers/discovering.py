"""Finds the drop-in extractors on the bus, reads for each, lets go of those that left."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from services.extractor.domain.calls import BrokenContract, mismatch, spec_of
from services.extractor.handlers.asking import AskDropIn, Suspects
from services.extractor.handlers.tally import Tally
from shared.bus.jetstream import Requester
from shared.bus.stage import Stage
from shared.bus.worker import Worker
from shared.contracts import Response
from shared.contracts.dropin import CONTRACT, ROLE, DropInSpec, endpoint, service_name
from shared.errors import TransientError
from shared.runtime.blocking import in_thread
from shared.runtime.service import StageHost
from shared.store import Store
from shared.store.extractors import ExtractorStatus
from shared.telemetry import log

GONE_AFTER_S = 30.0
"""Silent for so long, an extractor is let go: what waits for it waits on the bus."""
KIND = "drop-in"
OURS = re.compile(rf"{service_name('')}([A-Za-z0-9_-]{{1,96}})")
MOST_GUESTS = 100
"""A neighbour gone wild may register names without end; it gets no durables without end."""


@dataclass
class Guest:
    """A drop-in that is read for."""

    spec: DropInSpec
    worker: Worker
    seen_at: datetime
    tally: Tally
    told_at: datetime | None = None


@dataclass
class DropIns:
    """The overseer of drop-ins."""

    store: Store
    built_in: Iterable[str]
    now: Callable[[], datetime]
    look_every_s: float
    tell_every_s: float
    call_s: float
    batch: int
    _guests: dict[str, Guest] = field(default_factory=dict)
    _suspects: dict[str, Suspects] = field(default_factory=dict)
    _refused: dict[tuple[str, str], tuple[str, datetime]] = field(default_factory=dict)

    async def oversee(self, host: StageHost) -> None:
        """Be the service's overseer: look, welcome, tell, let go, for ever."""
        caller = Requester(host.connection)
        while True:
            try:
                heard = await caller.ask_all("$SRV.INFO", within_s=self.look_every_s)
                for name, version in sorted(found(heard).items()):
                    await self._met(name, version, caller, host)
                await self._tell(host)
            except TransientError as error:
                log("dropins").warning("drop-ins cannot be looked after now", why=str(error))

    async def _met(self, name: str, version: str, caller: Requester, host: StageHost) -> None:
        guest = self._guests.get(name)
        if guest and guest.spec.version == version:
            guest.seen_at = self.now()
            return
        if self._refused_lately(name, version):
            return
        try:
            spec = await self._welcome(name, version, caller)
        except (BrokenContract, TransientError) as why:
            await self._refuse(name, version, str(why))
            return
        if guest:
            await self._let_go(name, host)
        self._begin(spec, caller, host)

    async def _welcome(self, name: str, version: str, caller: Requester) -> DropInSpec:
        if name in self.built_in:
            raise BrokenContract("an extractor of this name is built in")
        if len(self._guests) >= MOST_GUESTS:
            raise BrokenContract(f"there are {MOST_GUESTS} drop-ins already")
        reply = await caller.ask(endpoint(name, "spec"), timeout_s=self.call_s)
        spec = spec_of(reply.data)
        if lie := mismatch(spec, name, version):
            raise BrokenContract(lie)
        return spec

    def _begin(self, spec: DropInSpec, caller: Requester, host: StageHost) -> None:
        tally = Tally()
        handler = AskDropIn(
            spec,
            caller,
            self.store.baselines,
            tally,
            self._suspects.setdefault(spec.name, Suspects()),
            now=self.now,
            call_s=self.call_s,
        )
        stage = Stage(
            "extractor",
            Response,
            handler,
            slots=2,
            batch=min(self.batch, spec.max_batch),
            drop_in=spec.name,
        )
        self._guests[spec.name] = Guest(spec, host.start(stage), self.now(), tally)
        log("dropins").info("a drop-in is read for", extractor=spec.name, version=spec.version)

    async def _let_go(self, name: str, host: StageHost) -> None:
        guest = self._guests.pop(name)
        await host.stop(guest.worker)
        log("dropins").info("a drop-in is let go", extractor=name, version=guest.spec.version)

    def _refused_lately(self, name: str, version: str) -> bool:
        _, at = self._refused.get((name, version), ("", None))
        return at is not None and self.now() - at < timedelta(seconds=self.tell_every_s)

    async def _refuse(self, name: str, version: str, why: str) -> None:
        now = self.now()
        self._refused[name, version] = (why, now)
        told = ExtractorStatus(name, version, (), now, kind=KIND, last_error=why, refused=why)
        await in_thread(self.store.extractors.announce, told)
        log("dropins").warning("a drop-in is refused", extractor=name, version=version, why=why)

    async def _tell(self, host: StageHost) -> None:
        """Say who is running, once each can be read for; let go of who has been silent long."""
        now = self.now()
        for name, guest in list(self._guests.items()):
            if now - guest.seen_at > timedelta(seconds=max(GONE_AFTER_S, 2 * self.call_s)):
                await self._let_go(name, host)
            elif guest.worker.ready and self._due(guest, now):
                over_s = (now - (guest.told_at or guest.seen_at)).total_seconds()
                guest.told_at = now
                await in_thread(self.store.extractors.announce, told_of(guest, over_s))

    def _due(self, guest: Guest, now: datetime) -> bool:
        every = timedelta(seconds=self.tell_every_s)
        return guest.told_at is None or now - guest.told_at >= every


def told_of(guest: Guest, over_s: float) -> ExtractorStatus:
    """Return what is told of a drop-in."""
    return ExtractorStatus(
        name=guest.spec.name,
        version=guest.spec.version,
        features=guest.spec.features,
        seen_at=guest.seen_at,
        instrument=guest.spec.instrument,
        kind=KIND,
        lag=guest.worker.lag,
        rate_per_s=guest.tally.rate_per_s(over_s) if over_s else None,
        last_error=guest.tally.last_error,
    )


def found(heard: Iterable[bytes]) -> dict[str, str]:
    """Return the version of each extractor among the services that answered; the latest of several.

    What is no service of ours, or cannot be read, is somebody else's.
    """
    versions: dict[str, str] = {}
    for each in filter(None, map(_registered, heard)):
        name, version = each
        versions[name] = max(versions.get(name, version), version, key=_order)
    return versions


def _registered(data: bytes) -> tuple[str, str] | None:
    try:
        info: Mapping[str, Any] = json.loads(data)
        about = info.get("metadata") or {}
        name, version = str(info["name"]), str(info["version"])
    except (ValueError, RecursionError, KeyError, AttributeError):
        return None
    if about.get("role") != ROLE or about.get("contract") != CONTRACT:
        return None
    named = OURS.fullmatch(name)
    return (named.group(1), version[:96]) if named else None


def _order(version: str) -> tuple[list[int], str]:
    numbers = version.partition("-")[0].partition("+")[0].split(".")
    return [int(each) if each.isdecimal() else -1 for each in numbers], version
