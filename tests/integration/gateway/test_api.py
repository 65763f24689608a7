"""The gateway over real HTTP: who may do what, and what it says when something is wrong."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr

from biaswatch.services.gateway.app import build, web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Cancellation,
    ClosedBy,
    Completion,
    ExtractorStatus,
)
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from tests.support.bus import ProvisionedBus
from tests.support.records import make_completion, make_diagnosis
from tests.support.waiting import PATIENCE_S

SUITE = {
    "name": "tiny",
    "extractors": ["words"],
    "probes": [{"key": "a", "prompt": "Hello?", "groups": {"concept": "Peru"}}],
}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield store


@pytest.fixture
async def api(bus: ProvisionedBus, store: Store) -> AsyncIterator[httpx2.AsyncClient]:
    settings = GatewaySettings(
        gateway_read_token=SecretStr("reader"), gateway_run_token=SecretStr("runner")
    )
    store.extractors.announce(ExtractorStatus("words", "1", ("words",), datetime.now(UTC)))
    app = web_app(settings, store, bus.publisher)
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        yield client


@pytest.mark.parametrize("headers", [{}, bearer("wrong"), bearer("REader"), bearer("readerrunner")])
async def test_a_wrong_token_may_do_nothing(
    api: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    paths = ("/v1/suites", "/v1/runs", "/v1/runs/" + "0" * 32 + "/cancel")
    for verb, path in (("GET", "/v1/runs"), *(("POST", path) for path in paths)):
        reply = await api.request(verb, path, headers=headers, json=SUITE)
        assert reply.status_code == 401
        assert "BIASWATCH_TOKEN" in reply.json()["detail"]


async def test_the_read_token_reads_and_does_not_spend(api: httpx2.AsyncClient) -> None:
    assert (await api.get("/v1/runs", headers=bearer("reader"))).json() == []
    assert (await api.post("/v1/suites", headers=bearer("reader"), json=SUITE)).status_code == 403


async def test_the_run_token_uploads_starts_and_reads(
    api: httpx2.AsyncClient, bus: ProvisionedBus
) -> None:
    kept = (await api.post("/v1/suites", headers=bearer("runner"), json=SUITE)).json()["hash"]
    request = {"suite_hash": kept, "targets": ["simulator:biased"]}
    first = await api.post("/v1/runs", headers=bearer("runner"), json=request)
    again = await api.post("/v1/runs", headers=bearer("runner"), json=request)
    assert first.status_code == 201
    assert first.json()["run"]["id"] == again.json()["run"]["id"]
    assert sum((await bus.admin.subjects("RUNS", "bias.>")).values()) >= 1


async def test_a_run_is_followed_until_it_ends_and_cancelling_takes_the_run_token(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store
) -> None:
    kept = (await api.post("/v1/suites", headers=bearer("runner"), json=SUITE)).json()["hash"]
    request = {"suite_hash": kept, "targets": ["simulator:biased"]}
    started = (await api.post("/v1/runs", headers=bearer("runner"), json=request)).json()
    run_id, now = started["run"]["id"], datetime.now(UTC)
    refused = await api.post(f"/v1/runs/{run_id}/cancel", headers=bearer("reader"))
    assert refused.status_code == 403
    assert "this takes run or admin" in refused.json()["detail"]
    gathers = store.gathers(RUN_GATHER)
    gathers.expect(run_id, ["f1"], deadline=now + timedelta(hours=1), now=now)
    stands = []
    events = f"/v1/runs/{run_id}/events"
    async with api.stream("GET", events, headers=bearer("reader")) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        async for line in reply.aiter_lines():
            if line.startswith("data:"):
                stands.append(json.loads(line.removeprefix("data:"))["state"])
                await asyncio.to_thread(gathers.arrive, ["f1"], now)
                store.records.write([make_completion(run_id=run_id, closed_by=ClosedBy.ARRIVAL)])
                [completion] = store.records.read(Completion, run_id=run_id)
                store.records.write([make_diagnosis(run_id=run_id, completion_id=completion.id)])
    assert stands[0] == "running"
    assert stands[-1] == "complete"
    cancelled = await api.post(f"/v1/runs/{run_id}/cancel", headers=bearer("runner"))
    assert cancelled.status_code == 202
    assert await bus.count(Cancellation) == 1


async def test_an_unknown_run_is_neither_followed_nor_cancelled(api: httpx2.AsyncClient) -> None:
    path = "/v1/runs/" + "e" * 32
    assert (await api.get(path + "/events", headers=bearer("reader"))).status_code == 404
    assert (await api.post(path + "/cancel", headers=bearer("runner"))).status_code == 404


@pytest.mark.parametrize(
    ("asked", "status", "sentence"),
    [
        ({"suite_hash": "0" * 32, "targets": ["simulator:biased"]}, 404, "There is no suite 000"),
        ({"targets": ["nonsense"]}, 422, "names no provider that is known"),
    ],
)
async def test_what_cannot_be_started_is_said_in_one_sentence(
    api: httpx2.AsyncClient, asked: dict[str, object], status: int, sentence: str
) -> None:
    kept = (await api.post("/v1/suites", headers=bearer("runner"), json=SUITE)).json()["hash"]
    reply = await api.post("/v1/runs", headers=bearer("runner"), json={"suite_hash": kept, **asked})
    assert reply.status_code == status
    assert sentence in reply.json()["detail"]


async def test_the_description_of_the_api_promises_a_sentence_for_what_is_refused(
    api: httpx2.AsyncClient,
) -> None:
    described = (await api.get("/openapi.json")).json()
    assert "HTTPValidationError" not in described["components"]["schemas"]
    refused = described["paths"]["/v1/runs"]["post"]["responses"]["422"]
    assert refused["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/ErrorResponse"
    }


async def test_an_unknown_run_is_not_there(api: httpx2.AsyncClient) -> None:
    for path in ("/v1/runs/" + "f" * 32, "/v1/runs/x' OR 1=1/diagnoses"):
        assert (await api.get(path, headers=bearer("reader"))).status_code == 404


async def test_the_api_describes_itself(api: httpx2.AsyncClient) -> None:
    paths = (await api.get("/openapi.json")).json()["paths"]
    assert "/v1/runs/{run_id}/diagnoses" in paths


def test_a_gateway_without_tokens_does_not_serve_other_machines() -> None:
    with pytest.raises(ConfigurationError, match="BIASWATCH_GATEWAY_RUN_TOKEN"):
        build(GatewaySettings(gateway_host="192.0.2.1"))
