"""Measurements of a run over real HTTP: every answer once, in pages, without texts."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr

from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import Run
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from tests.support.bus import ProvisionedBus
from tests.support.measured_runs import (
    EXTRACTORS,
    make_measured_run,
    make_suite,
    write_measured_run,
)
from tests.support.records import make_run
from tests.support.waiting import PATIENCE_S

READER = {"Authorization": "Bearer reader"}
SUITE = make_suite(sets=23)
RUN = make_measured_run(SUITE)
ANSWERS = 23 * 6 * 2 * 2


@pytest.fixture
async def api(bus: ProvisionedBus, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    settings = GatewaySettings(
        gateway_read_token=SecretStr("reader"), gateway_ingest_token=SecretStr("sender")
    )
    with Store.open(url) as store:
        write_measured_run(store, RUN, SUITE)
        store.records.write([make_run(suite_hash=None)])
        async with (
            web_server(web_app(settings, store, bus.publisher), "127.0.0.1", 0) as port,
            httpx2.AsyncClient(
                base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S, headers=READER
            ) as client,
        ):
            yield client


def path(run: Run = RUN) -> str:
    return f"/v1/runs/{run.id}/measurements"


async def lines(api: httpx2.AsyncClient, **parameters: int) -> list[dict[str, object]]:
    reply = await api.get(path(), params=parameters)
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("application/jsonl")
    return [json.loads(line) for line in reply.text.splitlines()]


async def test_every_answer_has_its_line_whether_it_was_measured_or_not(
    api: httpx2.AsyncClient,
) -> None:
    result = await lines(api)
    analysis = (await api.get(f"/v1/runs/{RUN.id}/analysis")).json()
    assert len(result) == ANSWERS == analysis["answers"]
    assert analysis["extractors"][0] == {
        "name": "words", "version": "1", "features": list(EXTRACTORS["words"]),
    }  # fmt: skip
    first, refused, gone = result[0], result[3], result[5]
    assert first["key"] == "s0.asian.female"
    assert (first["unit"], first["set"], first["repeat"]) == ("s0.asian.female", "s0", 0)
    assert first["groups"] == {"race": "asian", "gender": "female"}
    assert first["facts"] == {"source": "source-0", "keyword": "k0.asian"}
    assert refused["measured"]["vader"]["missing"] == "refused"  # type: ignore[index]
    assert gone["measured"]["words"] == {  # type: ignore[index]
        "values": {}, "baseline": {}, "missing": "did not arrive",
    }  # fmt: skip


async def test_pages_together_are_the_whole(api: httpx2.AsyncClient) -> None:
    whole = await lines(api)
    pages = [await lines(api, offset=n, limit=170) for n in range(0, ANSWERS, 170)]
    assert [line for page in pages for line in page] == whole
    assert await lines(api, offset=ANSWERS) == []


async def test_no_text_is_shown(api: httpx2.AsyncClient) -> None:
    reply = await api.get(path())
    assert "neighbour" not in reply.text.lower()


@pytest.mark.parametrize(
    ("token", "status"), [("", 401), ("Bearer wrong", 401), ("Bearer sender", 403)]
)
async def test_only_who_may_read_sees_measurements(
    api: httpx2.AsyncClient, token: str, status: int
) -> None:
    for where in (path(), f"/v1/runs/{RUN.id}/analysis"):
        assert (await api.get(where, headers={"Authorization": token})).status_code == status


@pytest.mark.parametrize(
    ("where", "status", "sentence"),
    [
        ("/v1/runs/" + "f" * 32 + "/measurements", 404, "There is no run ffff"),
        (path(make_run(suite_hash=None)), 422, "is a window of production traffic"),
        (path() + "?offset=-1", 422, "offset"),
        (path() + "?limit=0", 422, "limit"),
    ],
)
async def test_what_cannot_be_shown_is_a_sentence(
    api: httpx2.AsyncClient, where: str, status: int, sentence: str
) -> None:
    reply = await api.get(where)
    assert reply.status_code == status
    assert sentence in reply.json()["detail"]


async def test_openapi_describes_a_line(api: httpx2.AsyncClient) -> None:
    described = (await api.get("/openapi.json")).json()
    get = described["paths"]["/v1/runs/{run_id}/measurements"]["get"]
    assert {parameter["name"] for parameter in get["parameters"]} >= {"run_id", "offset", "limit"}
    assert "application/jsonl" in get["responses"]["200"]["content"]
    assert "AnswerMeasurements" in described["components"]["schemas"]
