"""A platform that `biaswatch up --processes` keeps up, and runs on it."""

import asyncio
import json
import re
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeVar

from biaswatch.local.client import GatewayClient
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Response, Suite, SuiteProbe
from biaswatch.shared.errors import BiaswatchError
from biaswatch.shared.requests.run_views import RunState
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.shared.store import Store
from drills.counting import of_run
from drills.outcome import Outcome
from tests.support.commands import CommandLine, RunningCommand
from tests.support.waiting import eventually

END_WITHIN_S = 600.0
LOOK_S = 0.3
RESTART = re.compile(r".*a service has died and restarts.*")
CODE = re.compile(r"code\W+?(-?\d+)")
T = TypeVar("T")


def paired_suite(probes: int, extractors: Sequence[str]) -> Suite:
    """Return a suite of pairs."""
    made = [
        SuiteProbe(key=f"p{n}", set=f"s{n // 2}", groups={"side": "ab"[n % 2]}, prompt=f"Rate {n}.")
        for n in range(probes)
    ]
    return Suite(name="pairs", extractors=tuple(extractors), probes=tuple(made))


class UpPlatform:
    """The platform of one state directory, up while the context lasts."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self._state = folder / "state"
        self.command = CommandLine(self._state, **environment)
        self._stack = ExitStack()
        self._process: RunningCommand | None = None
        self.log = ""
        """All that it has printed, once it has ended."""

    def __enter__(self) -> "UpPlatform":
        self._process = self._stack.enter_context(self.command.up("--processes"))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        self.log = "".join(self._up.communicate())

    @property
    def _up(self) -> RunningCommand:
        if self._process is None:
            raise LookupError("The platform has not been started.")
        return self._process

    @property
    def pid(self) -> int:
        """The process of `up`."""
        return self._up.pid

    @property
    def runs(self) -> bool:
        """True while `up` is alive."""
        return self._up.poll() is None

    @property
    def bus(self) -> str:
        """The address of the bus."""
        return self.command.bus()

    async def counted_run(
        self, suite: Suite, targets: Sequence[str], nonce: str = "", *, measured: bool = True
    ) -> Outcome:
        """Run a suite to its end, and count its answers and, where `measured`, measurements."""
        extractors = suite.extractors if measured else ()
        run_id = await self._patiently(lambda: self._start(suite, targets, nonce))
        with Store.open(f"sqlite:///{self._state / 'store.db'}") as store:
            state = await self._ended(store, run_id)
            keys = [probe.key for probe in suite.probes]
            await self._recorded(store, run_id, len(keys) * len(targets))
            counted = await asyncio.to_thread(of_run, store, run_id, keys, extractors)
        wrong = () if state is RunState.COMPLETE else (f"Run {nonce} is {state}.",)
        return counted + Outcome(faults=wrong)

    def unexpected_exits(self) -> Outcome:
        """Count restarts that no kill explains, once the platform has ended."""
        codes = self.restarts()
        unexpected = [code for code in codes if code != -signal.SIGKILL]
        return Outcome(exits=len(unexpected))

    def restarts(self) -> list[int]:
        """Return the exit codes of the services that were started again."""
        return [int(code) for line in RESTART.findall(self.log) for code in CODE.findall(line)]

    async def _start(self, suite: Suite, targets: Sequence[str], nonce: str) -> str:
        address = json.loads((self._state / "platform.json").read_text())["url"]
        client = GatewayClient(address)
        try:
            hash_ = await client.upload_suite(suite)
            request = RunRequest(suite_hash=hash_, targets=list(targets), nonce=nonce)
            return (await client.start(request)).run.id
        finally:
            await client.close()

    async def _ended(self, store: Store, run_id: str) -> RunState:
        """Wait for the end of a run; return the state that it has after the longest time."""
        queries, state = RunQueries(store), RunState.RUNNING
        deadline = asyncio.get_running_loop().time() + END_WITHIN_S
        while asyncio.get_running_loop().time() < deadline:
            progress = await self._patiently(lambda: asyncio.to_thread(queries.progress, run_id))
            state = progress.state
            if progress.ended:
                break
            await asyncio.sleep(LOOK_S)
        return state

    async def _recorded(self, store: Store, run_id: str, answers: int) -> None:
        """Wait for the answers themselves, which findings do not need."""
        with suppress(TimeoutError):
            await eventually(lambda: store.records.count(Response, run_id=run_id) >= answers)

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until there is an answer: the gateway may be away for a moment."""
        async with asyncio.timeout(END_WITHIN_S):
            while True:
                try:
                    return await ask()
                except BiaswatchError as error:
                    print(f"again: {error}", flush=True)
                await asyncio.sleep(LOOK_S)
