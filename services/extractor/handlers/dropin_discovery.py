"""Finds drop-in extractors on the bus, and starts and stops a stage for each."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from biaswatch.services.extractor.domain.dropin_protocol import BrokenContract, mismatch, spec_of
from biaswatch.services.extractor.handlers.dropin_calls import CallDropIn, SuspectTexts
from biaswatch.services.extractor.handlers.measuring import ExtractorCounters
from biaswatch.shared.bus.jetstream import Requester
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.worker import Worker
from biaswatch.shared.contracts import ExtractorStatus, Response
from biaswatch.shared.contracts.dropin import DropInSpec, Registration, endpoint, registration_of
from biaswatch.shared.errors import TransientError
from biaswatch.shared.lookup import grouped
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.service import StageHost
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import log

GONE_AFTER_S = 30.0
"""Silence after which the stage of an extractor is stopped; its records wait on the bus."""
KIND = "drop-in"
MIXED = (
    "different drop-ins of this name and version run, whose numbers would be mixed; stop all but"
    " one, or rename them"
)
MAX_DROP_INS = 100
"""Bounds the durables that registrations on the bus can create."""


@dataclass
class RunningDropIn:
    """A drop-in and its stage."""

    spec: DropInSpec
    worker: Worker
    seen_at: datetime
    counters: ExtractorCounters
    announced_at: datetime | None = None


@dataclass
class DropIns:
    """The supervisor of the stages of drop-ins."""

    store: Store
    built_in: Iterable[str]
    now: Callable[[], datetime]
    look_every_s: float
    announce_every_s: float
    call_s: float
    batch: int
    _running: dict[str, RunningDropIn] = field(default_factory=dict)
    _suspects: dict[str, SuspectTexts] = field(default_factory=dict)
    _refused: dict[tuple[str, str], datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._announcing = timedelta(seconds=self.announce_every_s)

    @property
    def job(self) -> Job[StageHost]:
        """The job that looks for drop-ins; one pass takes `look_every_s`."""
        return Job(self.run_once, "find drop-ins", every_s=0.0)

    async def run_once(self, host: StageHost) -> None:
        """Find drop-ins; start, announce and stop their stages."""
        caller = Requester(host.connection)
        replies = await caller.ask_all("$SRV.INFO", within_s=self.look_every_s)
        for name, copies in sorted(dropin_copies(replies).items()):
            await self._update(name, copies, caller, host)
        await self._announce(host)

    async def _update(
        self, name: str, copies: Sequence[Registration], caller: Requester, host: StageHost
    ) -> None:
        dropin, version = self._running.get(name), latest_version(copies)
        if dropin and are_mixed(copies):
            await self._stop(name, host)
        elif dropin and dropin.spec.version == version:
            dropin.seen_at = self.now()
            return
        refused_at = self._refused.get((name, version))
        if refused_at and self.now() - refused_at < self._announcing:
            return
        try:
            spec = await self._read_spec(name, copies, caller)
        except (BrokenContract, TransientError) as error:
            await self._refuse(name, version, str(error))
            return
        if dropin:
            await self._stop(name, host)
        self._start(spec, caller, host)

    async def _read_spec(
        self, name: str, copies: Sequence[Registration], caller: Requester
    ) -> DropInSpec:
        if are_mixed(copies):
            raise BrokenContract(MIXED)
        if name in self.built_in:
            raise BrokenContract("an extractor of this name is built in")
        if len(self._running) >= MAX_DROP_INS:
            raise BrokenContract(f"there are {MAX_DROP_INS} drop-ins already")
        spec = spec_of((await caller.ask(endpoint(name, "spec"), timeout_s=self.call_s)).data)
        if problem := mismatch(spec, name, latest_version(copies)):
            raise BrokenContract(problem)
        return spec

    def _start(self, spec: DropInSpec, caller: Requester, host: StageHost) -> None:
        counters = ExtractorCounters()
        handler = CallDropIn(
            spec,
            caller,
            self.store.baselines,
            counters,
            self._suspects.setdefault(spec.name, SuspectTexts()),
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
        self._running[spec.name] = RunningDropIn(spec, host.start(stage), self.now(), counters)
        log("dropins").info("a drop-in is started", extractor=spec.name, version=spec.version)

    async def _stop(self, name: str, host: StageHost) -> None:
        dropin = self._running.pop(name)
        await host.stop(dropin.worker)
        log("dropins").info("a drop-in is stopped", extractor=name, version=dropin.spec.version)

    async def _refuse(self, name: str, version: str, why: str) -> None:
        now = self.now()
        self._refused[name, version] = now
        refusal = ExtractorStatus(name, version, (), now, kind=KIND, last_error=why, refused=why)
        await in_thread(self.store.extractors.announce, refusal)
        log("dropins").warning("a drop-in is refused", extractor=name, version=version, why=why)

    async def _announce(self, host: StageHost) -> None:
        """Announce drop-ins whose stage is ready; stop the stages of silent ones."""
        now = self.now()
        for name, dropin in list(self._running.items()):
            if now - dropin.seen_at > timedelta(seconds=max(GONE_AFTER_S, 2 * self.call_s)):
                await self._stop(name, host)
                continue
            announced_at = dropin.announced_at
            due = announced_at is None or now - announced_at >= self._announcing
            if dropin.worker.ready and due:
                over_s = (now - (announced_at or dropin.seen_at)).total_seconds()
                dropin.announced_at = now
                await in_thread(self.store.extractors.announce, dropin_status(dropin, over_s))


def dropin_status(dropin: RunningDropIn, over_s: float) -> ExtractorStatus:
    """Return the announcement of a drop-in."""
    return ExtractorStatus(
        name=dropin.spec.name,
        version=dropin.spec.version,
        features=dropin.spec.features,
        seen_at=dropin.seen_at,
        instrument=dropin.spec.instrument,
        kind=KIND,
        lag=dropin.worker.lag,
        rate_per_s=dropin.counters.rate_per_s(over_s) if over_s else None,
        last_error=dropin.counters.last_error,
    )


def dropin_versions(replies: Iterable[bytes]) -> dict[str, str]:
    """Return the latest version of each extractor among the services that answered.

    Replies of other services, and unreadable ones, are ignored.
    """
    return {name: latest_version(copies) for name, copies in dropin_copies(replies).items()}


def dropin_copies(replies: Iterable[bytes]) -> dict[str, list[Registration]]:
    """Return the processes that serve each extractor, without those that are starting."""
    return grouped(
        (registration.name, registration)
        for registration in filter(None, map(registration_of, replies))
        if registration.serving
    )


def latest_version(copies: Iterable[Registration]) -> str:
    """Return the highest version among processes of one name."""
    return max((copy.version for copy in copies), key=_order)


def are_mixed(copies: Iterable[Registration]) -> bool:
    """Return whether different code runs under one name and version."""
    codes: dict[str, set[str]] = {}
    for copy in copies:
        codes.setdefault(copy.version, set()).add(copy.code)
    return any(len(digests) > 1 for digests in codes.values())


def _order(version: str) -> tuple[list[int], str]:
    numbers = version.partition("-")[0].partition("+")[0].split(".")
    return [int(number) if number.isdecimal() else -1 for number in numbers], version
