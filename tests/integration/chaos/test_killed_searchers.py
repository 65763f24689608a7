"""Searchers and the services below them are killed at random: the findings stay the same."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from biaswatch.services.simulator import app as simulator
from biaswatch.services.simulator.domain.planted_bias import PlantedModel
from biaswatch.shared.analysis.search import replay, results_of
from biaswatch.shared.bus.jetstream import Admin, Connection, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts.search import Search
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from tests.support.fleet import Fleet, app_of
from tests.support.searched import rounds_of, small_search
from tests.support.waiting import PATIENCE_S

OTHERS = ("planner", "generator", "extractor", "recorder")
UNFAIR = PlantedModel(rating_mean=3.4, rating_gaps={"female": -1.2})
AFTER_A_ROUND_S = (0.0, 1.0)
"""When a process is killed, in seconds after a round."""
HERE = "127.0.0.1"


@pytest.mark.parametrize(
    ("searcher_kills", "other_kills", "calls"),
    [(4, 1, 80), pytest.param(20, 5, 800, marks=pytest.mark.slow)],
)
async def test_killed_searchers_find_the_same_to_the_digit(
    tmp_path: Path, store_url: str, searcher_kills: int, other_kills: int, calls: int
) -> None:
    search, calm_url = small_search(calls=calls), f"sqlite:///{tmp_path / 'calm.db'}"
    migrate(calm_url)
    async with platform(tmp_path / "calm", calm_url) as (store, *_):
        await finished(store, search)
        calm = rounds_of(store, search), results(store, search)
    async with platform(tmp_path / "disturbed", store_url) as (store, searchers, others):
        store.searches.start(search)
        kills, rounds = ((searchers, searcher_kills), (others, other_kills)), len(calm[0])
        await asyncio.gather(
            *(killed(store, search, fleet, count, rounds) for fleet, count in kills)
        )
        at_the_last_kill = closed_rounds(store, search)
        await finished(store, search)
        assert (rounds_of(store, search), results(store, search)) == calm
        print(
            f"\n{searcher_kills} searchers and {other_kills} other services killed by round"
            f" {at_the_last_kill} of {len(calm[0])}: {calm[1]['headline']}"
        )


async def killed(store: Store, search: Search, fleet: Fleet, kills: int, rounds: int) -> None:
    """Kill processes at random moments, spread over the rounds of a search."""
    for number in range(kills):
        async with asyncio.timeout(PATIENCE_S):
            while closed_rounds(store, search) < number * rounds // (kills + 1):
                await asyncio.sleep(0.05)
        await fleet.suffer(1, 0, between_s=AFTER_A_ROUND_S)


def closed_rounds(store: Store, search: Search) -> int:
    """Return the number of closed rounds."""
    stored = store.searches.get(search.id)
    assert stored is not None
    return stored.next_round


@asynccontextmanager
async def platform(folder: Path, url: str) -> AsyncIterator[tuple[Store, Fleet, Fleet]]:
    """Yield the store, two searchers, and the services below them, all as processes."""
    markers = {"Ms": ("female",), "Mr": ("male",)}
    settings = simulator.read_settings().model_copy(
        update={"plants": {"unfair": UNFAIR}, "markers": markers}
    )
    with EmbeddedServer(folder / "nats") as server, Store.open(url) as store:
        connection = await Connection.open(server.url, name="test")
        await provision(Admin(connection))
        async with web_server(simulator.build(settings), HERE, 0) as port:
            environment = {
                **os.environ,
                "NATS_URL": server.url,
                "BIASWATCH_STORE_URL": url,
                "BIASWATCH_SIMULATOR_URL": f"http://{HERE}:{port}/v1",
                "BIASWATCH_HEALTH_PORT": "0",
                "BIASWATCH_EXTRACTOR_NAMES": "rating",
                "BIASWATCH_ACK_WAIT_S": "2",
                "BIASWATCH_PLANNER_RECONCILE_S": "4",
            }
            commands = [[app_of("searcher")]] * 2
            searchers = Fleet(server, commands, environment, seed=5)
            below = [[app_of(name)] for name in OTHERS]
            others = Fleet(server, below, environment, seed=6)
            try:
                yield store, searchers, others
            finally:
                searchers.end()
                others.end()
                await connection.close()


async def finished(store: Store, search: Search) -> None:
    """Start a search unless it is there, and wait for its end."""
    store.searches.start(search)
    async with asyncio.timeout(2 * PATIENCE_S):
        while store.searches.under_way():
            await asyncio.sleep(0.2)


def results(store: Store, search: Search) -> dict[str, Any]:
    """Return all findings, intervals and coverage of an ended search."""
    stored = store.searches.get(search.id)
    assert stored is not None
    plan, rounds = store.searches.plan(stored), store.searches.rounds(stored)
    return results_of(replay(plan, rounds), stored.why).model_dump(mode="json")
