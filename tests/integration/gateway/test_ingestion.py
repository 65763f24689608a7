"""Production answers over HTTP and over the bus: taken in once, refused in a sentence."""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from biaswatch.services.diagnoser.handlers.monitor_metrics import MonitorMetrics
from biaswatch.services.gateway.administration import purge_texts
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.gateway.traffic.intake_files import redaction_of
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import (
    Exchange,
    ExtractorStatus,
    MonitorState,
    Purpose,
    Response,
    Window,
    derived_id,
    window_at,
    window_run,
)
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.requests.platform import PurgeRequest
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.telemetry import UNWATCHED_ANSWERS
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.records import (
    AT,
    make_description,
    make_exchange,
    make_round,
    make_traffic_monitor,
)
from tests.support.waiting import PATIENCE_S

ASKED: dict[str, Any] = {
    "name": "support",
    "target": "traffic:support",
    "window": "1h",
    "features": [{"extractor": "words", "feature": "words", "high": 100, "tolerance": 0}],
    "comparisons": [{"dimension": "gender", "a": "female", "b": "male"}],
}
ANSWER: dict[str, Any] = {
    "id": "a-1", "prompt": "Where is it?", "text": "On its way.", "unit": "u-1",
    "groups": {"gender": "female"},
}  # fmt: skip
RUNNER, READER, SENDER = (
    {"Authorization": f"Bearer {name}"} for name in ("runner", "reader", "sender")
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        store.extractors.announce(ExtractorStatus("words", "1", ("words",), datetime.now(UTC)))
        yield store


@pytest.fixture
async def api(bus: ProvisionedBus, store: Store) -> AsyncIterator[httpx2.AsyncClient]:
    settings = GatewaySettings(
        gateway_read_token=SecretStr("reader"),
        gateway_run_token=SecretStr("runner"),
        gateway_ingest_token=SecretStr("sender"),
    )
    app = web_app(settings, store, bus.publisher)
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        yield client


async def post(
    api: httpx2.AsyncClient, *answers: dict[str, Any], source: str = "support", **headers: Any
) -> httpx2.Response:
    body = {"source": source, "responses": answers or (ANSWER,)}
    return await api.post("/v1/responses", json=body, headers=headers or SENDER)


async def watch(api: httpx2.AsyncClient, **fields: Any) -> dict[str, Any]:
    reply = await api.post("/v1/monitors", json={**ASKED, **fields}, headers=RUNNER)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def ingesting(store: Store) -> Stage[Exchange]:
    ingest = ExchangeIngestion(store, now=lambda: datetime.now(UTC))
    return Stage("gateway", Exchange, ingest, slots=1, batch=64)


async def test_answers_that_were_sent_in_become_responses_of_their_monitor(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store
) -> None:
    await watch(api)
    sent = [{**ANSWER, "id": f"a-{n}"} for n in range(40)]
    assert (await post(api, *sent)).json() == {"accepted": 40, "late": {}, "redacted": {}}
    stage = ingesting(store)
    bus.work(stage)
    await bus.settled(stage)
    assert await bus.count(Response) == 40
    assert await bus.count(Exchange) == 0  # texts do not lie about


async def test_the_ingest_token_sends_answers_in_and_nothing_else(api: httpx2.AsyncClient) -> None:
    await watch(api)
    assert (await post(api)).status_code == 202
    assert (await post(api, **READER)).status_code == 403
    assert (await api.get("/v1/monitors", headers=SENDER)).status_code == 403
    applied = await api.post("/v1/monitors", json=ASKED, headers=SENDER)
    assert applied.status_code == 403


@pytest.mark.parametrize(("verb", "more"), [("GET", ""), ("POST", ""), ("POST", "/read")])
async def test_the_past_of_a_system_that_nobody_watches_is_refused_and_leaves_no_trail(
    api: httpx2.AsyncClient, store: Store, verb: str, more: str
) -> None:
    await watch(api)
    before = store.audit.latest(100)
    unknown = await api.request(verb, f"/v1/history/nobody{more}", headers=RUNNER)
    assert unknown.status_code == 404
    assert "nobody" in unknown.json()["detail"]
    for name in ("support%20bot", "s" * 97, "support%0a", "%F0%9F%98%80", "%00"):
        odd = await api.request(verb, f"/v1/history/{name}{more}", headers=RUNNER)
        assert odd.status_code == 422, odd.text
        assert isinstance(odd.json()["detail"], str)
        assert "\n" not in odd.json()["detail"]
    assert store.audit.latest(100) == before


async def test_traffic_that_nobody_watches_is_refused_with_what_to_do(
    api: httpx2.AsyncClient, store: Store
) -> None:
    reply = await post(api)
    assert reply.status_code == 404
    assert "Apply one with the target traffic:support" in reply.json()["detail"]
    await watch(api)
    await api.post("/v1/monitors/support/pause", headers=RUNNER)
    assert (await post(api)).status_code == 404
    monitor = MonitorQueries(store).monitor("support")
    assert store.window_answers.accounts(monitor.monitor_id).refused == 1  # it is paused
    [counted] = store.unwatched_answers.read()
    assert (counted.source, counted.answers) == ("support", 1)  # and was not there before


async def test_reply_api_status_page_and_metric_say_the_same_of_what_nobody_watches(
    api: httpx2.AsyncClient, store: Store
) -> None:
    for batch in (5, 7):
        answers = [{**ANSWER, "id": f"{batch}-{n}"} for n in range(batch)]
        reply = await post(api, *answers)
        assert f"These {batch} answers are counted as unwatched" in reply.json()["detail"]
    [unwatched] = (await api.get("/v1/unwatched", headers=READER)).json()
    assert (unwatched["source"], unwatched["answers"]) == ("support", 12)
    status = (await api.get("/v1/status", headers=READER)).json()
    assert status["unwatched"] == {"support": 12}
    page = (await api.get("/traffic", headers=READER)).text
    [row] = [item for item in page.split("<tr") if "support" in item]
    assert ">12<" in row
    MonitorMetrics(store).run_once()
    assert UNWATCHED_ANSWERS.labels("default", "support")._value.get() == 12


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"text": None}, "'a-1': give either a text, or a reason"),
        ({"messages": [{"role": "user", "content": "?"}]}, "'a-1': give `prompt` or `messages`"),
        ({"at": "2199-01-01T00:00:00Z"}, "'a-1': `at` is in the future"),
        ({"at": "2999-01-01T00:00:00Z"}, "this must be at most 2200"),
    ],
)
async def test_a_batch_with_a_wrong_answer_is_refused_whole_and_the_answer_named(
    api: httpx2.AsyncClient, bus: ProvisionedBus, fields: dict[str, Any], why: str
) -> None:
    await watch(api)
    reply = await post(api, {**ANSWER, "id": "fine"}, {**ANSWER, **fields})
    assert reply.status_code == 422
    assert why in reply.json()["detail"]
    assert await bus.count(Exchange) == 0


async def test_misspelt_words_empty_and_endless_batches_are_refused(
    api: httpx2.AsyncClient,
) -> None:
    await watch(api)
    misspelt = await post(api, ANSWER, {**ANSWER, "gropus": {}})
    assert misspelt.status_code == 422
    assert misspelt.json() == {"detail": "responses.1.gropus: there is no such field."}
    body = {"source": "support", "responses": []}
    assert (await api.post("/v1/responses", json=body, headers=SENDER)).status_code == 422
    assert (await post(api, *[ANSWER] * 1001)).status_code == 422
    as_json = {**SENDER, "Content-Type": "application/json"}
    broken = await api.post("/v1/responses", content=b'{"source": ', headers=as_json)
    assert broken.status_code == 422
    assert broken.json() == {"detail": "the body: this is not JSON."}


async def test_an_answer_too_large_for_the_bus_is_refused(api: httpx2.AsyncClient) -> None:
    await watch(api)
    reply = await post(api, {**ANSWER, "text": "x" * 600_000})
    assert reply.status_code == 422
    assert "'a-1': it has 586 KiB" in reply.json()["detail"]


async def test_a_live_system_may_publish_plain_json_on_the_bus(
    bus: ProvisionedBus, store: Store
) -> None:
    store.records.write([make_traffic_monitor()])
    exchange = {
        "at": "2026-01-02T03:04:05Z", "said_at": "2026-01-02T03:04:05Z", "purpose": "production",
        "source": "support", "key": "k", "text": "Yes.", "unit_id": "u",
    }  # fmt: skip
    subject = "bias.v1.exchange.default.production.support"
    await bus.publisher.publish_copy(subject, json.dumps(exchange).encode(), {})
    stage = ingesting(store)
    bus.work(stage)
    await bus.settled(stage)
    assert await bus.count(Response) == 1


async def test_over_the_bus_what_nobody_watches_is_a_dead_letter_and_what_is_paused_is_not(
    bus: ProvisionedBus, store: Store
) -> None:
    monitor = make_traffic_monitor(state=MonitorState.PAUSED)
    store.records.write([monitor])
    stage = ingesting(store)
    bus.work(stage)
    await bus.publish(
        make_exchange(0),
        make_exchange(1, source="unknown"),
        make_exchange(2, tenant="somebody-else"),
        make_exchange(3, said_at=datetime(9999, 12, 31, tzinfo=UTC)),
    )
    await bus.settled(stage)
    reasons = [letter.reason for letter in await bus.dead()]
    assert sum("No monitor watches the traffic" in reason for reason in reasons) == 2
    assert sum("'answer-3': `at` is in the future" in reason for reason in reasons) == 1
    assert await bus.count(Response) == 0


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"window": "10s"}, "at least 1m"),
        ({"target": "traffic:a b"}, "target"),
        ({"suite_hash": "a" * 32}, "suite_hash"),
        ({"features": [{**ASKED["features"][0], "method": "pairs"}]}, "matched"),
        ({"features": [{**ASKED["features"][0], "method": "two_groups"}]}, "matched"),
        ({"neighbours_within": "2h"}, "at most the length of the window"),
        ({"neighbours_within": "0.5s"}, "at least 1s"),
        ({"strata": ["topic", "topic"]}, "declared twice"),
    ],
)
async def test_a_file_of_traffic_that_is_wrong_is_refused(
    api: httpx2.AsyncClient, fields: dict[str, Any], why: str
) -> None:
    reply = await api.post("/v1/monitors", json={**ASKED, **fields}, headers=RUNNER)
    assert reply.status_code == 422
    assert why in json.dumps(reply.json())


async def test_another_owner_does_not_move_the_windows_and_another_window_is_another_monitor(
    api: httpx2.AsyncClient,
) -> None:
    first = await watch(api)
    owned = await watch(api, owners=["them"])
    assert (owned["changed"], owned["anew"]) == (True, False)
    assert owned["monitor"]["since"] == first["monitor"]["since"]
    assert (await watch(api, window="2h"))["anew"]


async def test_a_monitor_of_traffic_says_when_its_window_will_be_read(
    api: httpx2.AsyncClient, store: Store
) -> None:
    monitor = make_traffic_monitor(since=datetime(2026, 1, 1, 12, 30, tzinfo=UTC))
    store.records.write([monitor])
    store.schedule.put(monitor)
    [stand] = (await api.get("/v1/monitors", headers=READER)).json()
    read = datetime.fromisoformat(stand["next_round_at"])
    assert read == datetime(2026, 1, 1, 13, tzinfo=UTC) + timedelta(seconds=60)
    assert (stand["suite"], stand["target"]) == (None, "traffic:support")


async def test_a_window_is_listed_among_the_runs_with_the_answers_it_has(
    api: httpx2.AsyncClient, store: Store
) -> None:
    monitor = make_traffic_monitor()
    store.records.write([monitor])
    records = ExchangeIngestion(store, now=lambda: AT)([make_exchange(n) for n in range(3)])
    store.records.write([*records, window_run(monitor, window_at(AT, 3600), AT, round_=0)])
    [listed] = (await api.get("/v1/runs?purpose=production", headers=READER)).json()
    assert (listed["suite"], listed["targets"]) == ("support", ["traffic:support"])
    assert (listed["probes"], listed["responses"]) == (3, 3)
    begins = listed["run_id"][:6]
    assert (await api.get(f"/v1/runs/{begins}", headers=READER)).json() == listed
    shown = await api.get(f"/v1/runs/{listed['run_id']}", headers=READER)
    assert shown.json() == listed
    for part in ("diagnoses", "studies"):
        result = await api.get(f"/v1/runs/{listed['run_id']}/{part}", headers=READER)
        assert result.status_code == 200, result.text


async def test_windows_are_shown_the_latest_first(api: httpx2.AsyncClient, store: Store) -> None:
    monitor = make_traffic_monitor()
    store.records.write([monitor])
    named = {"monitor_id": monitor.monitor_id, "purpose": Purpose.PRODUCTION}
    for number in range(3):
        own = {**named, "round": number, "run_id": derived_id("run", number)}
        begins = AT + timedelta(hours=number)
        window = Window(begins=begins, ends=begins + timedelta(hours=1))
        store.records.write([make_description(**own, window=window), make_round(**own)])
    body = (await api.get("/v1/monitors/support/windows", headers=READER)).json()
    assert [item["round"] for item in body] == [2, 1, 0]
    last = (await api.get("/v1/monitors/support/windows?last=1", headers=READER)).json()
    assert last == body[:1]
    assert body[0]["described"][0]["groups"][0]["mean"]["reason"]
    assert (await api.get("/v1/monitors/nobody/windows", headers=READER)).status_code == 404


REDACTED = "built_in: [email, card]\npatterns: {order: 'ORD-[0-9]{4,8}'}\n"
SAID = "Dear anna@example.org, order ORD-12345 was paid with 4111 1111 1111 1111."
PRIVATE = ("anna@example.org", "ORD-12345", "4111 1111")


async def test_what_may_not_be_stored_is_replaced_before_it_reaches_bus_or_store(
    bus: ProvisionedBus, store: Store, tmp_path: Path
) -> None:
    (tmp_path / "redaction.yaml").write_text(REDACTED)
    settings = GatewaySettings(gateway_redaction_file=tmp_path / "redaction.yaml")
    app = web_app(settings, store, bus.publisher)
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        await watch(client)
        answers = [
            {"id": str(n), "prompt": "I am anna@example.org.", "text": SAID, "unit": unit}
            for n, unit in enumerate(("anna@example.org", "anna@example.org", "user-7"))
        ]
        body = {"source": "support", "responses": answers}
        reply = await client.post("/v1/responses", json=body)
    assert reply.json()["redacted"] == {"card": 3, "email": 8, "order": 3}
    accepted = ReceivedRecords()
    bus.work(Stage("gateway", Exchange, accepted.handle))
    await accepted.wait_for(3)
    published = [record.encode().decode() for record in accepted.records]
    assert not [word for word in PRIVATE for text in published if word in text]
    redaction = redaction_of(tmp_path / "redaction.yaml")
    ingest = ExchangeIngestion(store, now=lambda: datetime.now(UTC), redaction=redaction)
    responses = list(ingest(sorted(accepted.records, key=lambda item: item.key)))
    store.records.write(responses)
    assert responses[0].text == "Dear [email], order [order] was paid with [card]."
    assert responses[0].redacted == {"card": 1, "email": 3, "order": 1}
    units = [response.probe.unit_id for response in responses]
    assert (units[0] == units[1], units[2]) == (True, "user-7")
    gone = purge_texts(store, PurgeRequest(unit="anna@example.org"), datetime.now(UTC))
    assert gone.texts == 4  # two questions, two answers


async def test_what_a_system_publishes_itself_is_redacted_when_it_is_taken_off_the_bus(
    store: Store, api: httpx2.AsyncClient, tmp_path: Path
) -> None:
    await watch(api)
    (tmp_path / "redaction.yaml").write_text(REDACTED)
    redaction = redaction_of(tmp_path / "redaction.yaml")
    ingest = ExchangeIngestion(store, now=lambda: datetime.now(UTC), redaction=redaction)
    now = datetime.now(UTC)
    [response] = ingest([make_exchange(1, at=now, said_at=now, text=SAID)])
    assert (response.text or "").startswith("Dear [email], order [order]")
    assert response.redacted == {"card": 1, "email": 1, "order": 1}


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("built_in: [faces]", "there is no faces; there are email"),
        ("patterns: {all: '.*'}", "patterns, all: a repeat has no bound"),
        ("presidio: {entities: [PERSON]}", "presidio-analyzer is not installed"),
        ("patern: {}", "there is no such field"),
    ],
)
def test_a_wrong_redaction_file_stops_the_gateway_with_a_sentence(
    tmp_path: Path, written: str, sentence: str
) -> None:
    (tmp_path / "redaction.yaml").write_text(written)
    with pytest.raises(ConfigurationError, match=sentence):
        redaction_of(tmp_path / "redaction.yaml")


def test_presidio_is_asked_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class AnalyzerEngine:
        """What presidio-analyzer has, as far as it is used."""

        def analyze(self, *, text: str, entities: list[str], **_: object) -> list[SimpleNamespace]:
            result = [(entities[0], "Anna Smith"), (entities[0], "Smith")]
            return [
                SimpleNamespace(
                    entity_type=kind, start=text.index(word), end=text.index(word) + len(word)
                )
                for kind, word in result
            ]

    module = SimpleNamespace(AnalyzerEngine=AnalyzerEngine)
    monkeypatch.setitem(sys.modules, "presidio_analyzer", module)
    (tmp_path / "redaction.yaml").write_text("presidio: {entities: [PERSON]}")
    result = redaction_of(tmp_path / "redaction.yaml")("I am Anna Smith of Rome.")
    assert (result.text, dict(result.counts)) == ("I am [person] of Rome.", {"person": 1})
