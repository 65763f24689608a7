"""A platform of processes with runs and live traffic, to which a drill does something."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from biaswatch.shared.contracts import Run, Target, window_at
from biaswatch.shared.errors import TransientError
from drills.counting import of_study, of_traffic
from drills.outcome import Outcome
from tests.support.chaos_platform import ChaosPlatform, chaos_platform, now
from tests.support.disturbed_traffic import Senders, TrafficPlan, watching
from tests.support.exact_study import ExactStudy
from tests.support.waiting import PATIENCE_S, eventually

RUNS_ONLY = ("planner", "generator", "extractor", "recorder", "diagnoser")
SERVICES = (*RUNS_ONLY, "oracle", "evaluator", "gateway")
WINDOW_S, LATENESS_S = 20, 2.0
ANSWERS_A_SECOND = 10
PROBES = 150


class Scene:
    """Runs and traffic on a platform."""

    def __init__(self, platform: ChaosPlatform, study: ExactStudy) -> None:
        self.platform, self.study = platform, study
        self.runs: list[Run] = []
        self._traffic: tuple[str, Senders, asyncio.Task[None]] | None = None

    async def begin_run(self, target: Target | None = None) -> Run:
        """Begin another run, and return it."""
        run = self.study.run(len(self.runs), target=target)
        self.runs.append(run)
        await self.platform.publish(run)
        return run

    async def begin_traffic(self, token: str | None = None) -> None:
        """Let a live system send answers from now on; return when the first is taken."""
        plan = TrafficPlan(10**6, WINDOW_S, ANSWERS_A_SECOND * WINDOW_S, LATENESS_S, ())
        monitor = watching(plan, window_at(datetime.now(UTC), WINDOW_S).begins)
        await self.platform.publish(monitor)
        senders = Senders(self.platform.gateway_url, plan, token=token)
        sending = asyncio.create_task(senders.send())
        self._traffic = (monitor.monitor_id, senders, sending)
        await eventually(lambda: any(answer.taken_at for answer in senders.answers))

    async def outcome(self, note: str = "") -> Outcome:
        """Wait for the end of all that was begun, and count it."""
        counted = Outcome(note=note)
        for number, run in enumerate(self.runs):
            counted += await self._count_run(number, run)
        if self._traffic:
            counted += await self._count_traffic(*self._traffic)
        dead = [f"Dead letter: {letter.reason}" for letter in await self.platform.dead()]
        return counted + Outcome(faults=tuple(dead)) + self._ends()

    async def _count_run(self, number: int, run: Run) -> Outcome:
        late: tuple[str, ...] = ()
        try:
            await self.platform.diagnosed(run)
            await self.platform.recorded(run, self.study.probes)
        except TimeoutError:
            late = (f"Run {number} has no findings after {PATIENCE_S:g} s.",)
        counted = await asyncio.to_thread(of_study, self.platform.store, self.study, run)
        return counted + Outcome(faults=late)

    async def _count_traffic(
        self, monitor_id: str, senders: Senders, sending: "asyncio.Task[None]"
    ) -> Outcome:
        late: list[str] = []
        try:
            async with asyncio.timeout(PATIENCE_S):
                await senders.stop(sending)
            await eventually(lambda: self._accounted(monitor_id, len(senders.answers)))
        except TimeoutError:
            late.append(f"Traffic is not accounted for after {PATIENCE_S:g} s.")
        counted = await asyncio.to_thread(of_traffic, self.platform.store, monitor_id, senders)
        return counted + Outcome(faults=tuple(late))

    async def _accounted(self, monitor_id: str, answers: int) -> bool:
        try:
            accounts = await asyncio.to_thread(
                self.platform.store.window_answers.accounts, monitor_id
            )
        except TransientError:
            return False
        return not accounts.waiting and accounts.sent - accounts.duplicate >= answers

    def _ends(self) -> Outcome:
        """Count the processes that have ended by themselves."""
        platform = self.platform
        ended = [f"The {name} ended with {code}." for name, code in platform.exits().items()]
        if platform.supervised:
            ended = [f"{end}." for end in platform.unexpected]
        return Outcome(exits=len(ended), note=" ".join(ended))


@asynccontextmanager
async def scene(
    folder: Path,
    store_url: str,
    *,
    services: Sequence[str] = SERVICES,
    probes: int = PROBES,
    through: str | None = None,
    settings: Mapping[str, str] | None = None,
    prefixes: Mapping[str, Sequence[str]] | None = None,
    bus_folder: Path | None = None,
    bus_servers: int = 1,
    supervised: bool = False,
    turned: bool = False,
    token: str | None = None,
) -> AsyncIterator[Scene]:
    """Run services on a store while the context lasts; with `gateway`, traffic comes in too.

    `through` is the store's URL as the services know it, and `turned` gives them a clock that the
    drill can turn. Where the gateway asks for tokens, traffic has this one.
    """
    async with chaos_platform(
        folder, store_url, bus_folder=bus_folder, supervised=supervised, bus_servers=bus_servers
    ) as platform:
        study = ExactStudy(folder, probes)
        platform.store.suites.keep(study.suite, now())
        platform.store_url = through or store_url
        platform.more.update({"BIASWATCH_EXTRACTOR_NAMES": "rating,words", **(settings or {})})
        platform.prefixes.update(prefixes or {})
        platform.start(services, turned=turned)
        await platform.working()
        here = Scene(platform, study)
        if "gateway" in services:
            await here.begin_traffic(token)
        yield here


async def pause(scene: Scene, least_s: float, most_s: float) -> None:
    """Wait for a random time."""
    await asyncio.sleep(scene.platform.luck.uniform(least_s, most_s))
