"""Monitors over HTTP: applied, shown, paused, deleted; every mistake is a sentence."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from math import log
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from biaswatch.services.diagnoser.handlers import CloseRounds
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import ExtractorStatus, Monitor, Suite, SuiteProbe
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from tests.support.bus import ProvisionedBus
from tests.support.monitored import play
from tests.support.waiting import PATIENCE_S

SUITE = Suite(
    name="coasts",
    extractors=("words",),
    probes=tuple(
        SuiteProbe(key=f"{set_}-{group}", prompt="?", set=f"s{set_}", groups={"concept": group})
        for set_ in range(30)
        for group in ("France", "Peru")
    ),
)
ASKED: dict[str, Any] = {
    "name": "coasts",
    "suite_hash": SUITE.hash,
    "target": "simulator:unbiased",
    "cadence": "6h",
    "features": [{"extractor": "words", "feature": "words", "high": 10, "tolerance": 0.5}],
    "comparisons": [{"dimension": "concept", "a": "France", "b": "Peru"}],
}
RUNNER = {"Authorization": "Bearer runner"}
READER = {"Authorization": "Bearer reader"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        store.suites.keep(SUITE, datetime.now(UTC))
        store.extractors.announce(ExtractorStatus("words", "1", ("words",), datetime.now(UTC)))
        yield store


@pytest.fixture
async def api(bus: ProvisionedBus, store: Store) -> AsyncIterator[httpx2.AsyncClient]:
    settings = GatewaySettings(
        gateway_read_token=SecretStr("reader"), gateway_run_token=SecretStr("runner")
    )
    app = web_app(settings, store, bus.publisher)
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers=RUNNER, timeout=PATIENCE_S
        ) as client,
    ):
        yield client


async def test_applying_the_same_file_again_changes_nothing(api: httpx2.AsyncClient) -> None:
    first = (await api.post("/v1/monitors", json=ASKED)).json()
    again = (await api.post("/v1/monitors", json=ASKED)).json()
    assert (first["changed"], first["anew"]) == (True, True)
    assert (again["changed"], again["anew"]) == (False, False)
    assert again["monitor"]["id"] == first["monitor"]["id"]


@pytest.mark.parametrize(
    ("host", "is_noted"), [("127.0.0.1:8900", True), ("hooks.example.com", False)]
)
async def test_a_webhook_that_the_notifier_refuses_is_noted(
    api: httpx2.AsyncClient, host: str, is_noted: bool
) -> None:
    reply = await api.post("/v1/monitors", json=ASKED | {"webhook": f"https://{host}/alarms"})
    notes = " ".join(reply.json()["notes"])
    assert ("PRIVATE_HOSTS" in notes) is is_noted, notes


async def test_a_number_that_nobody_measures_is_refused_with_those_that_are(
    api: httpx2.AsyncClient,
) -> None:
    features = [{"extractor": "words", "feature": "wrods", "high": 10, "tolerance": 0.5}]
    reply = await api.post("/v1/monitors", json={**ASKED, "features": features})
    assert reply.status_code == 422
    text = "The extractor words does not measure wrods; it measures words."
    assert reply.json()["detail"] == text


async def test_another_cadence_keeps_the_evidence_and_another_tolerance_does_not(
    api: httpx2.AsyncClient,
) -> None:
    await api.post("/v1/monitors", json=ASKED)
    slower = (await api.post("/v1/monitors", json={**ASKED, "cadence": "1d"})).json()
    assert (slower["changed"], slower["anew"]) == (True, False)
    other = (await api.post("/v1/monitors", json={**ASKED, "alpha": 0.01})).json()
    assert (other["changed"], other["anew"]) == (True, True)


async def test_a_monitor_is_paused_goes_on_and_is_deleted(api: httpx2.AsyncClient) -> None:
    await api.post("/v1/monitors", json=ASKED)
    for verb, state in (("pause", "paused"), ("resume", "active")):
        assert (await api.post(f"/v1/monitors/coasts/{verb}")).status_code == 202
        [stand] = (await api.get("/v1/monitors")).json()
        assert stand["state"] == state
    assert (await api.delete("/v1/monitors/coasts")).status_code == 202
    assert (await api.get("/v1/monitors")).json() == []
    gone = await api.get("/v1/monitors/coasts")
    assert gone.status_code == 404
    assert "There is no monitor coasts" in gone.json()["detail"]


async def test_who_may_only_read_cannot_change_a_monitor(api: httpx2.AsyncClient) -> None:
    assert (await api.post("/v1/monitors", json=ASKED, headers=READER)).status_code == 403
    assert (await api.get("/v1/monitors", headers=READER)).status_code == 200
    assert (await api.get("/v1/monitors", headers={"Authorization": ""})).status_code == 401
    for path in ("/v1/monitors/coasts/pause", "/v1/monitors/coasts/resume"):
        assert (await api.post(path, headers=READER)).status_code == 403
    assert (await api.delete("/v1/monitors/coasts", headers=READER)).status_code == 403


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"cadence": "often"}, "a duration is a number and one of s, m, h, d, w"),
        ({"cadense": "6h"}, "cadense: there is no such field."),
        ({"claim": "population"}, "sets_per_round is required for the claim `population`"),
        ({"webhook": "ftp://x/"}, "webhook"),
        ({"target": "nowhere"}, "provider"),
        ({"comparisons": [{"dimension": "concept", "a": "Atlantis"}]}, "has no probe of concept"),
        ({"comparisons": [{"dimension": "concept", "a": "Peru", "b": "Peru"}]}, "with itself"),
        (
            {"features": [{"extractor": "vader", "feature": "x", "tolerance": 0.1}]},
            "vader is not running",
        ),
        (
            {"features": [{"extractor": "words", "feature": "words", "high": 0, "tolerance": 0}]},
            "low must be below high",
        ),
        (
            {
                "features": [
                    {"extractor": "words", "feature": "words", "method": "odds", "tolerance": 0.2}
                ]
            },
            "selected_at_least",
        ),
        (
            {"features": [{"extractor": "words", "feature": "words", "high": 10}]},
            "features.0: choose a tolerance, the largest gap that does not matter",
        ),
        ({"features": [{"extractor": "words", "feature": "w", "tolerence": 1}]}, "tolerence"),
        ({"suite_hash": "f" * 32}, "Upload it first"),
        ({"suite_hash": "\u0000"}, "suite_hash: this must be an id"),
        ({"cadence": "3000000d"}, "cadence: a duration is at most 3650d"),
        ({"cadence": 1e300}, "cadence: a duration is at most 3650d"),
        ({"alpha": 5e-324}, "alpha: this must be at least 1e-12"),
        ({"webhook": "https://a..b/"}, "not an address with a host"),
        ({"webhook": "http://["}, "not an address with a host"),
        ({"webhook": "http://host:99999/"}, "not an address with a host"),
        (
            {
                "features": [
                    {"extractor": "words", "feature": "words", "high": 1e300, "tolerance": 0}
                ]
            },
            "low and high lie within 1e+12 of 0",
        ),
        (
            {
                "features": [
                    {
                        "extractor": "words",
                        "feature": "words",
                        "method": "odds",
                        "selected_at_least": 1,
                        "tolerance": 9,
                    }
                ]
            },
            "must be smaller than 4",
        ),
        (
            {"features": [{"extractor": "words", "feature": "w", "lwo": 1, "tolerance": 0}]},
            "features.0.lwo: there",
        ),
    ],
)
async def test_a_mistake_in_the_file_is_a_sentence(
    api: httpx2.AsyncClient, wrong: dict[str, Any], sentence: str
) -> None:
    reply = await api.post("/v1/monitors", json={**ASKED, **wrong})
    assert reply.status_code in {404, 422}
    assert sentence in reply.text


async def test_a_plan_that_was_watched_before_goes_on_with_its_evidence(
    api: httpx2.AsyncClient, store: Store
) -> None:
    await api.post("/v1/monitors", json=ASKED)
    [monitor] = store.records.all(Monitor)
    store.schedule.put(monitor)
    watch = CloseRounds(store, now=lambda: datetime.now(UTC))
    for number in range(4):
        play(store, watch, monitor, number, lambda *_: {"words": 5.0})
    for fields, anew in (({"alpha": 0.01}, True), ({}, False)):
        applied = (await api.post("/v1/monitors", json={**ASKED, **fields})).json()
        assert applied["anew"] is anew
        store.schedule.put(Monitor.model_validate(applied["monitor"]))
    place = store.schedule.get("coasts")
    assert place is not None
    assert place.next_round == 4


async def test_logarithms_are_watched_from_the_file_to_the_alarm(
    api: httpx2.AsyncClient, store: Store
) -> None:
    """Lengths one of which is twice the other differ by log(2), whatever the set's own length."""
    watched = {**ASKED["features"][0], "low": 1, "high": 5000, "tolerance": 0.1, "scale": "log"}
    reply = await api.post("/v1/monitors", json={**ASKED, "features": [watched]})
    assert "log(words) compares geometric means" in reply.text
    [monitor] = store.records.all(Monitor)
    watch = CloseRounds(store, now=lambda: datetime.now(UTC))
    for number in range(12):
        play(
            store, watch, monitor, number,
            lambda probe, round_: {
                "words": Random(f"{probe.key.partition('-')[0]}/{round_}").lognormvariate(5, 1)
                * (2 if probe.groups["concept"] == "France" else 1)
            },
        )  # fmt: skip
    view = (await api.get("/v1/monitors/coasts")).json()
    [words] = [e for e in view["evidence"] if e["comparison"].startswith("words.log(words)")]
    assert (words["verdict"], words["same_treatment"]) == ("disparity", "differs")
    assert words["gap"]["value"] == pytest.approx(log(2), rel=0.05)
    [alarm] = (await api.get("/v1/monitors/coasts/alarms")).json()
    assert alarm["twins"]
    page = (await api.get("/monitors/coasts", headers=READER)).text
    assert "log(words)" in page


async def test_evidence_and_alarms_are_shown_with_the_answers_side_by_side(
    api: httpx2.AsyncClient, store: Store
) -> None:
    await api.post("/v1/monitors", json=ASKED)
    [monitor] = store.records.all(Monitor)
    watch = CloseRounds(store, now=lambda: datetime.now(UTC))
    for number in range(6):
        play(
            store, watch, monitor, number,
            lambda probe, _: {"words": 7.0 if probe.groups["concept"] == "France" else 4.0},
        )  # fmt: skip
    view = (await api.get("/v1/monitors/coasts")).json()
    [words] = [e for e in view["evidence"] if e["comparison"].startswith("words.words")]
    assert words["verdict"] == "disparity"
    assert words["stands_out"]
    assert view["status"]["rounds"] == 6
    assert view["status"]["alarms"] == 1
    assert "counts" not in words
    [alarm] = (await api.get("/v1/monitors/coasts/alarms")).json()
    twins = alarm["twins"][0]
    assert (twins["a"][0]["group"], twins["b"][0]["group"]) == ("France", "Peru")
    assert twins["a"][0]["answered"].startswith("<b>")
    [stand] = (await api.get("/v1/monitors")).json()
    assert stand["flagged"] == 1
