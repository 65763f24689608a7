"""Whatever is sent, the gateway answers with a sentence and never fails, on both databases."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from biaswatch.shared.contracts import ExtractorStatus, Suite, probes_of
from biaswatch.shared.store import Store
from tests.support.api import api_on
from tests.support.hostile_requests import HostileRequest, hostile_addresses, hostile_bodies
from tests.support.measured_runs import (
    EXTRACTORS,
    make_measured_run,
    make_suite,
    write_measured_run,
)
from tests.support.records import make_brief, make_response, make_traffic_monitor

pytestmark = pytest.mark.slow

MEASURED = make_suite(sets=4)
RUN = make_measured_run(MEASURED, targets=1)
SUITE: dict[str, Any] = {
    "name": "odd",
    "about": "x",
    "extractors": ["words"],
    "features": ["words"],
    "claim": "bank",
    "selected_at_least": {"words": 1},
    "ranges": {"words": [0, 9]},
    "compared": "auto",
    "strata": ["kind"],
    "variables": {"question": "?"},
    "probes": [
        {"key": "a", "prompt": "?", "groups": {"race": "x"}, "set": "s", "unit": "u",
         "expected": "y", "baseline": "z", "facts": {"kind": "k"}},
        {"key": "b", "variables": {"scale": "1 to 4"}, "groups": {"race": "y"}, "set": "s"},
        {"key": "c", "messages": [{"role": "user", "content": "?"}], "facts": {"kind": "l"}},
    ],
}  # fmt: skip
RUN_BODY = {
    "suite_hash": MEASURED.hash,
    "targets": ["simulator:biased"],
    "scaffolds": ["direct"],
    "repeats": 2,
    "parameters": {"temperature": 0.5, "stop": ["x"]},
    "system_prompt": "Be brief.",
    "nonce": "n",
    "budget": {"tokens": 100, "cost": 1.5},
    "judges": [],
    "judge_seed": 3,
}
MONITOR = {
    "name": "coasts",
    "suite_hash": MEASURED.hash,
    "target": "simulator:unbiased",
    "cadence": "6h",
    "deadline": 3600,
    "repeats": 1,
    "alpha": 0.05,
    "most_rounds": 3,
    "owners": ["a@example.org"],
    "webhook": "https://hooks.example/a",
    "budget": {"tokens": 10},
    "features": [
        {"extractor": "words", "feature": "words", "low": 0, "high": 10, "tolerance": 0.5}
    ],
    "comparisons": [{"dimension": "race", "a": "asian", "b": "black"}],
}
TRAFFIC = {
    "name": "listens",
    "target": "traffic:support",
    "window": "1h",
    "lateness": 60,
    "features": [{"extractor": "words", "feature": "words", "high": 10, "tolerance": 0.5}],
    "comparisons": [{"dimension": "race", "a": "asian", "b": "black"}],
    "mentions": {"race": {"asian": ["word"]}},
}
BRIEF = {
    "run_id": RUN.id,
    "subject": make_brief().subject.model_dump(mode="json"),
    "writer": "simulator:careless",
    "judges": ["simulator:strict"],
    "repeats": 1,
    "report": "Text.",
}  # fmt: skip
BATCH = {
    "source": "support",
    "responses": [
        {"id": "e1", "at": "2026-03-04T05:06:07Z", "prompt": "?", "text": "An answer.",
         "groups": {"race": "asian"}, "unit": "u1", "model": "m", "finish_reason": "stop"}
    ],
}  # fmt: skip
ANSWER = make_response(probe=next(iter(probes_of(RUN, MEASURED, RUN.at))))
BODIES = {
    "/v1/suites": SUITE,
    "/v1/runs": RUN_BODY,
    "/v1/monitors": MONITOR,
    "/v1/monitors#traffic": TRAFFIC,
    "/v1/interpretations": BRIEF,
    "/v1/responses": BATCH,
    "/v1/runs/RUN/labels/samples": {"feature": "sentiment", "group": "race", "wanted": 20},
    "/v1/runs/RUN/labels": {
        "extractor": "vader",
        "feature": "sentiment",
        "labels": [{"response_id": ANSWER.id, "value": 0.5}],
    },
    "/v1/targets/resume": {"target": "simulator:biased"},
}
PAGES = ("/", "/login", "/operations", "/monitors/coasts", "/monitors/coasts/alarms")
AT_ONCE = 8


@pytest.fixture
def app(store: Store) -> FastAPI:
    write_measured_run(store, RUN, MEASURED)
    now = datetime.now(UTC)
    for name, features in EXTRACTORS.items():
        store.extractors.announce(ExtractorStatus(name, "1", features, now))
    store.records.write([make_traffic_monitor(), ANSWER])
    return api_on(store)


async def answered(app: FastAPI, requests: Iterable[HostileRequest]) -> tuple[int, list[str]]:
    """Send requests; return how many, and what is wrong with answers to them."""
    faults, statuses, turns = [], Counter[int](), asyncio.Semaphore(AT_ONCE)
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:

        async def one(request: HostileRequest) -> None:
            path = request.path.replace("RUN", RUN.id).partition("#")[0]
            json_type = {"content-type": "application/json"}
            async with turns:
                reply = await client.request(
                    request.method, path, content=request.body, headers=json_type
                )
            statuses[reply.status_code] += 1
            if reply.status_code >= 500:
                faults.append(f"{request.about}: {reply.status_code}")
            elif reply.status_code >= 400 and path.startswith("/v1/"):
                body = reply.json()
                if set(body) != {"detail"} or not body["detail"].endswith((".", ">")):
                    faults.append(f"{request.about}: {body}")

        await asyncio.gather(*map(one, requests))
    print(f"{statuses.total()} requests, {dict(sorted(statuses.items()))}, {len(faults)} faults")
    return statuses.total(), faults


async def test_the_bodies_that_are_spoilt_are_taken_unspoilt(app: FastAPI) -> None:
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        for path, body in BODIES.items():
            where = path.replace("RUN", RUN.id).partition("#")[0]
            reply = await client.post(where, json=body)
            paused = path.endswith("resume")  # no target is, so there is none to resume
            assert reply.is_success or paused, (path, reply.text)


@pytest.mark.parametrize("path", BODIES)
async def test_no_body_makes_the_gateway_fail(app: FastAPI, path: str, store: Store) -> None:
    sent, faults = await answered(app, hostile_bodies("POST", path, BODIES[path]))
    assert faults == []
    assert sent > 30
    # What was taken can be shown.
    pages = [HostileRequest(page, "GET", page) for page in ("/v1/runs", "/v1/monitors", *PAGES)]
    assert (await answered(app, pages))[1] == []


async def test_no_address_makes_the_gateway_fail(app: FastAPI) -> None:
    requests = [
        hostile_address
        for hostile_address in hostile_addresses(app.openapi())
        if "/events" not in hostile_address.path
    ]
    sent, faults = await answered(app, requests)
    assert faults == []
    assert sent > 500


async def test_a_suite_that_could_not_be_diagnosed_is_refused_at_upload_naming_the_probe(
    app: FastAPI,
) -> None:
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        for label in ("", "x\n", "x" * 513, "a\tb"):
            odd = Suite.model_validate(SUITE).model_dump(mode="json")
            odd["probes"][2]["groups"] = {"race": label}
            reply = await client.post("/v1/suites", json=odd)
            assert reply.status_code == 422
            assert reply.json()["detail"].startswith("The probe c, groups.race: ")


async def test_a_run_larger_than_is_allowed_is_refused_with_its_size(app: FastAPI) -> None:
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        reply = await client.post("/v1/runs", json={**RUN_BODY, "repeats": 10_000_000})
    assert reply.status_code == 422
    assert "would ask 240,000,000 questions" in reply.json()["detail"]
    assert "BIASWATCH_GATEWAY_RUN_PROBES" in reply.json()["detail"]
