"""The gateway over real HTTP: who may do what, and what it says when something is wrong."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr

from services.gateway.app import build, web_app
from services.gateway.settings import GatewaySettings
from shared.errors import ConfigurationError
from shared.runtime.web import web_server
from shared.store import Store, migrate
from shared.store.instruments import Instrument
from shared.testing.bus import Bus

SUITE = {
    "name": "tiny",
    "extractors": ["words"],
    "probes": [{"key": "a", "prompt": "Hello?", "groups": {"concept": "Peru"}}],
}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
async def api(bus: Bus, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    settings = GatewaySettings(
        gateway_read_token=SecretStr("reader"), gateway_run_token=SecretStr("runner")
    )
    with Store.open(url) as store:
        store.instruments.announce(Instrument("words", "1", ("words",), datetime.now(UTC)))
        app = web_app(settings, store, bus.publisher)
        async with (
            web_server(app, "127.0.0.1", 0) as port,
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
        ):
            yield client


@pytest.mark.parametrize("headers", [{}, bearer("wrong"), bearer("REader"), bearer("readerrunner")])
async def test_a_wrong_token_may_do_nothing(
    api: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    for verb, path in (("GET", "/v1/runs"), ("POST", "/v1/suites"), ("POST", "/v1/runs")):
        reply = await api.request(verb, path, headers=headers, json=SUITE)
        assert reply.status_code == 401
        assert "BIASWATCH_TOKEN" in reply.json()["detail"]


async def test_the_read_token_reads_and_does_not_spend(api: httpx2.AsyncClient) -> None:
    assert (await api.get("/v1/runs", headers=bearer("reader"))).json() == []
    assert (await api.post("/v1/suites", headers=bearer("reader"), json=SUITE)).status_code == 401


async def test_the_run_token_uploads_starts_and_reads(api: httpx2.AsyncClient, bus: Bus) -> None:
    kept = (await api.post("/v1/suites", headers=bearer("runner"), json=SUITE)).json()["hash"]
    asked = {"suite_hash": kept, "targets": ["simulator:biased"]}
    first = await api.post("/v1/runs", headers=bearer("runner"), json=asked)
    again = await api.post("/v1/runs", headers=bearer("runner"), json=asked)
    assert first.status_code == 201
    assert first.json()["run"]["id"] == again.json()["run"]["id"]
    assert sum((await bus.admin.subjects("RUNS", "bias.>")).values()) >= 1


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


async def test_an_unknown_run_is_not_there(api: httpx2.AsyncClient) -> None:
    for path in ("/v1/runs/" + "f" * 32, "/v1/runs/x' OR 1=1/diagnoses"):
        assert (await api.get(path, headers=bearer("reader"))).status_code == 404


async def test_the_api_describes_itself(api: httpx2.AsyncClient) -> None:
    paths = (await api.get("/openapi.json")).json()["paths"]
    assert "/v1/runs/{run_id}/diagnoses" in paths


def test_a_gateway_without_tokens_does_not_serve_other_machines() -> None:
    with pytest.raises(ConfigurationError, match="BIASWATCH_GATEWAY_RUN_TOKEN"):
        build(GatewaySettings(gateway_host="192.0.2.1"))
