"""Kills every second, with keys, while one target refuses its key: everything else is exact."""

import asyncio
import os
import time
from itertools import count
from pathlib import Path

import pytest

from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Target, parse_target
from biaswatch.shared.requests.run_views import RunState
from tests.support.chaos_platform import ChaosPlatform, chaos_platform, now
from tests.support.exact_study import ExactStudy
from tests.support.hung_stores import kill_a_connection
from tests.support.model_server import model_server, replying
from tests.support.waiting import PATIENCE_S

PROBES = 300
KILL_EVERY_S = 1.0
LONG_S = float(os.environ.get("BIASWATCH_TEST_KILLS_S", "600"))
"""How long the long one lasts."""


@pytest.mark.parametrize("empty_store_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    "duration_s",
    [8.0, pytest.param(LONG_S, marks=[pytest.mark.slow, pytest.mark.timeout(3600)], id="long")],
)
async def test_the_rest_is_exact_while_a_target_refuses_its_key(
    store_url: str, tmp_path: Path, duration_s: float
) -> None:
    study = ExactStudy(tmp_path, PROBES)
    unauthorized = replying(lambda _: (401, {"error": {"message": "Incorrect key."}}))
    with model_server(unauthorized) as address:
        refusing = parse_target(f"openai:m@{address}")
        summary = await kill_and_compare(study, refusing, store_url, tmp_path, duration_s)
    print(summary)


async def kill_and_compare(
    study: ExactStudy, refusing: Target, store_url: str, folder: Path, duration_s: float
) -> str:
    """Run after run under kills, each exact; return what was done."""
    async with chaos_platform(folder, store_url, seed=7) as platform:
        platform.store.suites.keep(study.suite, now())
        platform.start()
        await platform.working()
        refused = study.run(0, target=refusing)
        await platform.publish(refused)
        killing = asyncio.create_task(kill(platform, store_url, duration_s))
        number, began = 0, time.monotonic()
        while not killing.done() or not number:
            number += 1
            run = study.run(number)
            await platform.publish(run)
            # While the killing goes on nothing need come through on a slow machine; then it has to.
            await platform.diagnosed(run, within_s=duration_s + PATIENCE_S)
            await platform.recorded(run, study.probes)
            assert study.faults(platform.store, run) == []
        await killing
        state = RunQueries(platform.store).progress(refused.id)
        assert platform.needed_a_person == []
        assert [item.reason for item in await platform.dead()] == []
    assert (state.state, state.responses) == (RunState.RUNNING, 0)
    assert [item.lane for item in state.paused] == [refusing.lane]
    return (
        f"\n{platform.deaths.total()} kills in {time.monotonic() - began:.0f} s"
        f" ({dict(platform.deaths)}): {number} runs of {PROBES} probes exact; the refused target"
        f" is paused with {state.probes} probes waiting."
    )


async def kill(platform: ChaosPlatform, store_url: str, duration_s: float) -> None:
    """Kill something every second: mostly services, the bus and the database at times."""
    deadline = time.monotonic() + duration_s
    for number in count(1):
        await asyncio.sleep(KILL_EVERY_S)
        if time.monotonic() > deadline:
            return
        if number % 10 == 5:
            await asyncio.to_thread(platform.kill_the_bus)
        elif number % 10 == 0:
            platform.deaths["database"] += await asyncio.to_thread(kill_a_connection, store_url)
        else:
            platform.kill_a_service()
