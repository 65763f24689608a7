"""Drills about processes that are stopped or killed while they work."""

import asyncio
import json
import os
import re
import signal
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from biaswatch.local.platform import SERVICES
from biaswatch.shared.contracts import parse_target
from biaswatch.shared.store import migrate
from drills.memory import descendants, program_of
from drills.outcome import Drill, Outcome
from drills.scene import RUNS_ONLY, scene
from drills.up_platform import UpPlatform, paired_suite
from tests.support.chaos_platform import ChaosPlatform
from tests.support.exact_study import said
from tests.support.model_server import model_server
from tests.support.processes import command_line
from tests.support.waiting import eventually

PROGRAMS = (*SERVICES, "nats-server")

STOPPED_WITHIN_S = 145.0
"""The longest that Kubernetes waits before it kills a pod of the chart: the generator's."""


class HangingModel:
    """A model that answers nothing until it is released."""

    def __init__(self) -> None:
        self.calls, self.released = 0, False

    def called_since(self, calls: int) -> bool:
        """Whether there were more calls than these."""
        return self.calls > calls

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one call."""
        if scope["type"] != "http":
            raise NotImplementedError("It needs no start and no end.")
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        self.calls += 1
        while not self.released:
            await asyncio.sleep(0.05)
        result = re.search(r"Rate (\d+)\.", body.decode())
        text = said(f"p{result[1]}") if result else ""
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        body = json.dumps({"model": "m", "choices": [choice]}).encode()
        await send({"type": "http.response.body", "body": body})


async def sigterm_in_a_hanging_call(folder: Path, times: int) -> Outcome:
    """Stop every service with SIGTERM while calls to a model hang, then start them again."""
    url, model = f"sqlite:///{folder / 'store.db'}", HangingModel()
    migrate(url)
    with model_server(model) as address:
        async with scene(folder, url, services=RUNS_ONLY, probes=20) as here:
            await here.begin_run(parse_target(f"openai:m@{address}"))
            stopped, longest = Outcome(), 0.0
            for _ in range(times):
                await eventually(partial(model.called_since, model.calls))
                began = time.monotonic()
                ended = await asyncio.to_thread(_stop, here.platform)
                longest = max(longest, time.monotonic() - began)
                stopped += ended
                here.platform.start(RUNS_ONLY)
            model.released = True
            note = f"stopped {times} times, the slowest in {longest:.0f} s; {model.calls} calls"
            return stopped + await here.outcome(note)


def _stop(platform: ChaosPlatform) -> Outcome:
    """Stop all services; count those that do not end with 0 in time."""
    began, codes = time.monotonic(), platform.end()
    faults = []
    if time.monotonic() - began > STOPPED_WITHIN_S:
        faults.append(f"Stopping took {time.monotonic() - began:.0f} s.")
    return Outcome(len(codes), exits=sum(code != 0 for code in codes), faults=tuple(faults))


BETWEEN_KILLS_S = (0.5, 3.0)


async def up_with_killed_processes(folder: Path, times: int) -> Outcome:
    """Kill processes of `biaswatch up --processes` at random, while run follows run."""
    suite = paired_suite(60, ("rating", "words"))
    settings = {"BIASWATCH_ACK_WAIT_S": "3", "BIASWATCH_PLANNER_RECONCILE_S": "3"}
    with UpPlatform(folder, **settings) as up:
        killing = asyncio.create_task(_kill(up.pid, times))
        nonces, counted = count(), Outcome()
        while not killing.done():
            counted += await up.counted_run(suite, ["simulator:unbiased"], f"{next(nonces)}")
        killed = await killing
        counted += await up.counted_run(suite, ["simulator:unbiased"], "after")
        ended = not up.runs
    codes = up.restarts()
    note = f"killed {killed.total()} {dict(killed)}, {len(codes)} restarts, {next(nonces)} runs"
    faults = () if codes else ("The log names no restart.",)
    return counted + up.unexpected_exits() + Outcome(exits=ended, faults=faults, note=note)


async def _kill(platform: int, times: int) -> Counter[str]:
    """Kill one process after the other; return how often each program died."""
    luck, killed = Random(1), Counter[str]()
    while killed.total() < times:
        await asyncio.sleep(luck.uniform(*BETWEEN_KILLS_S))
        living = {pid: program_of(command_line(pid)) for pid in descendants(platform)}
        victims = [pid for pid, program in living.items() if program in PROGRAMS]
        if victims:
            victim = luck.choice(victims)
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
                killed[living[victim]] += 1
    return killed


DRILLS = (
    Drill("sigterm", "SIGTERM to every service during hanging calls", sigterm_in_a_hanging_call, 3),
    Drill(
        "up-processes", "kills of processes of `up --processes`", up_with_killed_processes,
        100, 1800,
    ),
)  # fmt: skip
