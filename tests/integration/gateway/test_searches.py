"""Searches over HTTP: started, continued, cancelled; every mistake is a sentence."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import Cancellation
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.searches import SearchPhase
from tests.support.api import api_on
from tests.support.searched import UnfairTarget, small_search
from tests.support.waiting import PATIENCE_S

REQUEST: dict[str, Any] = {
    "space": small_search().space.model_dump(mode="json"),
    "target": "simulator:unfair",
    "calls": 40,
    "sets_per_round": 10,
}
RUNNER = {"Authorization": "Bearer runner"}
READER = {"Authorization": "Bearer reader"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield store


@pytest.fixture
async def api(store: Store) -> AsyncIterator[httpx2.AsyncClient]:
    settings = GatewaySettings(
        gateway_read_token=SecretStr("reader"),
        gateway_run_token=SecretStr("runner"),
        gateway_searches_under_way=2,
    )
    async with (
        web_server(api_on(store, settings), "127.0.0.1", 0) as port,
        httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers=RUNNER, timeout=PATIENCE_S
        ) as client,
    ):
        yield client


async def started(api: httpx2.AsyncClient, **fields: Any) -> dict[str, Any]:
    reply = await api.post("/v1/searches", json=REQUEST | fields)
    assert reply.status_code == 201, reply.text
    progress: dict[str, Any] = reply.json()
    return progress


async def test_the_same_request_is_the_same_search(api: httpx2.AsyncClient) -> None:
    first, again = await started(api), await started(api)
    assert again == first
    assert (first["status"], first["budget"], first["calls"]) == ("running", 40, 0)
    assert (await started(api, seed=1))["search_id"] != first["search_id"]
    listed = (await api.get("/v1/searches", headers=READER)).json()
    assert len(listed) == 2
    begins = first["search_id"][:8]
    assert (await api.get(f"/v1/searches/{begins}")).json()["progress"] == first
    assert (await api.get("/v1/searches/latest")).json()["progress"] in listed


async def test_a_budget_is_raised_and_never_lowered(api: httpx2.AsyncClient) -> None:
    search_id = (await started(api))["search_id"]
    assert (await started(api, calls=60))["budget"] == 60
    assert (await started(api, calls=20))["budget"] == 60
    raised = await api.post(f"/v1/searches/{search_id}/budget", json={"calls": 100})
    assert raised.json()["budget"] == 100
    refused = await api.post(f"/v1/searches/{search_id}/budget", json={"calls": 100})
    assert refused.status_code == 422
    assert "has a budget of 100 calls already" in refused.text


async def test_a_search_is_shown_with_its_results(api: httpx2.AsyncClient, store: Store) -> None:
    search_id = (await started(api, calls=400))["search_id"]
    target = UnfairTarget(store)
    for run in target.run_once():
        target.publish(run)
    view = (await api.get(f"/v1/searches/{search_id}", headers=READER)).json()
    assert view["progress"]["calls"] == 20
    assert view["results"]["spent"]["calls"] == 0  # the round under way is no evidence yet
    while store.searches.under_way():
        for run in target.run_once():
            target.publish(run)
    view = (await api.get(f"/v1/searches/{search_id}", headers=READER)).json()
    assert view["progress"]["status"] == "ended"
    assert view["results"]["spent"]["calls"] == view["progress"]["calls"]
    assert view["results"]["ended"] == view["progress"]["why"]


async def test_a_cancelled_search_ends_its_round_and_the_same_request_continues_it(
    api: httpx2.AsyncClient, store: Store
) -> None:
    search_id = (await started(api))["search_id"]
    [run] = UnfairTarget(store, answering=False).run_once()
    stopped = (await api.post(f"/v1/searches/{search_id}/cancel")).json()
    assert stopped["status"] == "stopped"
    assert [c.run_id for c in store.records.read(Cancellation, run_id=run.id)] == [run.id]
    again = await api.post(f"/v1/searches/{search_id}/cancel")
    assert again.json() == stopped
    assert (await started(api))["status"] == "running"
    stored = store.searches.get(search_id)
    assert stored is not None
    assert stored.state is SearchPhase.ACTIVE


async def test_acts_are_in_the_audit_trail(api: httpx2.AsyncClient, store: Store) -> None:
    search_id = (await started(api))["search_id"]
    await api.post(f"/v1/searches/{search_id}/cancel")
    acts = [(entry.action, entry.subject) for entry in store.audit.all()]
    assert acts[-2:] == [("search.start", search_id), ("search.cancel", search_id)]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"target": "nobody:x"}, "no provider that is known"),
        ({"target": "openai:m@http://inside.example/v1"}, "does not allow the target"),
        ({"calls": 0}, "calls"),
        ({"calls": 1}, "a set of twins needs 2 calls"),
        ({"alpha": 2}, "alpha"),
        ({"space": REQUEST["space"] | {"topics": {}}}, "topics"),
        ({"space": REQUEST["space"] | {"about": "x" * 2**20}}, "1,048,576 are allowed"),
        ({"unknown": 1}, "unknown"),
    ],
)
async def test_a_mistake_is_a_sentence(
    api: httpx2.AsyncClient, fields: dict[str, Any], sentence: str
) -> None:
    refused = await api.post("/v1/searches", json=REQUEST | fields)
    assert refused.status_code == 422
    assert sentence in refused.text


async def test_searches_under_way_are_limited(api: httpx2.AsyncClient) -> None:
    await started(api)
    await started(api, seed=1)
    refused = await api.post("/v1/searches", json=REQUEST | {"seed": 2})
    assert refused.status_code == 422
    assert "BIASWATCH_GATEWAY_SEARCHES_UNDER_WAY" in refused.text
    assert (await started(api))["status"] == "running"  # those under way may be followed


async def test_a_reader_starts_nothing_and_an_unknown_search_is_not_there(
    api: httpx2.AsyncClient,
) -> None:
    assert (await api.post("/v1/searches", json=REQUEST, headers=READER)).status_code == 403
    missing = await api.get(f"/v1/searches/{'0' * 32}")
    assert missing.status_code == 404
    assert "biaswatch searches list" in missing.text
    assert (await api.post(f"/v1/searches/{'0' * 32}/cancel")).status_code == 404
