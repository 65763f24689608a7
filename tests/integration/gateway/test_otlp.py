"""OTLP over HTTP on a real bus: one exchange a call, in the protocol's own words and codes."""

import gzip
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from pydantic import SecretStr

from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.context import IntakeBacklog
from biaswatch.services.gateway.otlp import wire
from biaswatch.services.gateway.otlp.intake import signal_intake
from biaswatch.services.gateway.otlp.joining import MAX_WAIT, SETTLE_TIME, AnswerJoiner
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.traffic.batches import MAX_QUEUED, publish_exchanges
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Exchange, MonitorState, Response
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from biaswatch.shared.store.answer_parts import Patience
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.otlp import json_of, make_event, make_span, protobuf_of
from tests.support.records import make_traffic_monitor
from tests.support.waiting import PATIENCE_S
from tests.support.watched_answers import watched_store

PROTOBUF = {"Content-Type": "application/x-protobuf"}
JSON_BODY = {"Content-Type": "application/json"}
SENDER, READER = ({"Authorization": f"Bearer {name}"} for name in ("sender", "reader"))
LANGFUSE = "/api/public/otel/v1/traces"
NO_CONTENT = {"gen_ai.input.messages": None, "gen_ai.output.messages": None}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with watched_store(tmp_path) as store:
        yield store


@pytest.fixture
def settings(tmp_path: Path) -> GatewaySettings:
    (tmp_path / "redaction.yaml").write_text("built_in: [email]")
    return GatewaySettings(
        gateway_read_token=SecretStr("reader"),
        gateway_ingest_token=SecretStr("sender"),
        gateway_redaction_file=tmp_path / "redaction.yaml",
    )


@pytest.fixture
def waiting() -> list[IntakeBacklog]:
    return [IntakeBacklog()]


@pytest.fixture
async def api(
    bus: ProvisionedBus, store: Store, settings: GatewaySettings, waiting: list[IntakeBacklog]
) -> AsyncIterator[httpx2.AsyncClient]:
    app = web_app(settings, store, bus.publisher, lambda _: waiting[0])
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S, headers=SENDER
        ) as client,
    ):
        yield client


def now_ns() -> int:
    return int(datetime.now(UTC).timestamp() * 1e9)


async def send(
    api: httpx2.AsyncClient, *signals: Signal, where: str = "traces", **headers: str
) -> httpx2.Response:
    body = protobuf_of(signals)
    return await api.post(f"/v1/{where}", content=body, headers={**PROTOBUF, **headers})


async def responses_of(bus: ProvisionedBus, store: Store) -> int:
    ingest = ExchangeIngestion(store, now=lambda: datetime.now(UTC))
    stage = Stage("gateway", Exchange, ingest, slots=1, batch=64)
    bus.work(stage)
    await bus.settled(stage)
    return await bus.count(Response)


async def test_spans_become_exchanges_and_the_response_is_protobuf(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store
) -> None:
    spans = [make_span(n, at_ns=now_ns()) for n in range(20)]
    other = make_span(99, at_ns=now_ns(), attributes={"gen_ai.operation.name": "execute_tool"})
    reply = await send(api, *spans, other)
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/x-protobuf"
    assert not ExportTraceServiceResponse.FromString(reply.content).HasField("partial_success")
    assert await responses_of(bus, store) == 20


async def test_json_and_gzip_are_taken_as_well(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store
) -> None:
    reply = await api.post("/v1/traces", json=json_of([make_span(1, at_ns=now_ns())]))
    assert (reply.status_code, reply.json()) == (200, {})
    packed = gzip.compress(protobuf_of([make_span(2, at_ns=now_ns())]))
    headers = {**PROTOBUF, "Content-Encoding": "gzip"}
    assert (await api.post("/v1/traces", content=packed, headers=headers)).status_code == 200
    assert await responses_of(bus, store) == 2


@pytest.mark.parametrize("content", [{}, NO_CONTENT])
async def test_halves_of_pairs_and_nul_in_json_stop_neither_the_request_nor_the_joining(
    api: httpx2.AsyncClient, store: Store, content: dict[str, Any], join: Any
) -> None:
    names = ("gen_ai.response.model", "gen_ai.response.id", "gender", "a\ud800")
    odd = {name: f"x{name[-1]}\ud800" for name in names}
    request = json_of([make_span(1, at_ns=now_ns(), attributes={**content, **odd})])
    (span,) = request["resourceSpans"][0]["scopeSpans"][0]["spans"]
    span |= {"traceId": "\x00\ud800", "name": "\ud800"}
    other = json_of([make_span(2, at_ns=now_ns(), attributes=content)])
    request["resourceSpans"] += other["resourceSpans"]
    reply = await api.post("/v1/traces", content=json.dumps(request), headers=JSON_BODY)
    assert reply.status_code == 200, reply.text
    now = datetime.now(UTC)
    parts = store.answer_parts.settled(Patience(now, now + MAX_WAIT, now - MAX_WAIT))
    assert not any("\x00" in part.key for operation in parts for part in operation)
    await join(MAX_WAIT)


@pytest.mark.parametrize("moment", [10**30, -1, "9" * 400])
async def test_a_moment_out_of_range_is_refused(api: httpx2.AsyncClient, moment: Any) -> None:
    request = json_of([make_span(1, at_ns=now_ns())])
    request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["endTimeUnixNano"] = moment
    reply = await api.post("/v1/traces", json=request)
    assert (reply.status_code, reply.json()) == (400, {"message": "The body is not OTLP's JSON."})


async def test_a_repeated_span_counts_once_and_is_accounted_as_a_duplicate(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store
) -> None:
    span = make_span(1, at_ns=now_ns())
    for _ in range(3):
        assert (await send(api, span, span)).status_code == 200
    assert await responses_of(bus, store) == 1
    monitor = make_traffic_monitor()
    counted = store.window_answers.accounts(monitor.monitor_id)
    assert (counted.sent, counted.duplicate) == (6, 5)


async def test_what_is_wrong_is_refused_alone_and_counted(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store
) -> None:
    future = make_span(1, at_ns=now_ns() + int(3600e9))
    unwatched = make_span(2, at_ns=now_ns(), resource={"service.name": "billing"})
    reply = await send(api, make_span(0, at_ns=now_ns()), future, unwatched)
    partial = ExportTraceServiceResponse.FromString(reply.content).partial_success
    assert (reply.status_code, partial.rejected_spans) == (200, 2)
    assert "is in the future" in partial.error_message
    assert await responses_of(bus, store) == 1
    counted = store.window_answers.accounts(make_traffic_monitor().monitor_id)
    assert (counted.sent, counted.refused) == (2, 1)


async def test_spans_without_texts_are_no_answers_and_nothing_is_refused(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store
) -> None:
    fields: dict[str, Any] = {"openinference.span.kind": "LLM"}
    silent = Signal("c" * 32, "d" * 16, "x", now_ns(), fields, {"service.name": "support"})
    reply = await send(api, silent)
    partial = ExportTraceServiceResponse.FromString(reply.content).partial_success
    assert (reply.status_code, partial.rejected_spans) == (200, 0)
    assert "(1, with openinference.span.kind)" in partial.error_message
    assert await responses_of(bus, store) == 0


async def test_a_call_that_waits_names_its_unknown_attributes(api: httpx2.AsyncClient) -> None:
    reply = await send(api, make_span(1, attributes={**NO_CONTENT, "acme.answer": "x"}))
    partial = ExportTraceServiceResponse.FromString(reply.content).partial_success
    assert partial.rejected_spans == 0
    assert "wait up to 45 seconds" in partial.error_message
    assert "acme.answer" in partial.error_message


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "text/plain"}, b"x", 415),
        ({**PROTOBUF, "Content-Encoding": "br"}, b"x", 415),
        ({**PROTOBUF, "Content-Encoding": "gzip"}, b"x", 400),
        (PROTOBUF, b"\xff\xff\xff", 400),
        ({"Content-Type": "application/json"}, b"[]", 400),
        ({"Content-Type": "application/json"}, b'{"resourceSpans": [3]}', 400),
    ],
)
async def test_what_breaks_the_protocol_is_refused_for_good(
    api: httpx2.AsyncClient, headers: dict[str, str], body: bytes, status: int
) -> None:
    reply = await api.post("/v1/traces", content=body, headers=headers)
    assert reply.status_code == status
    if headers == PROTOBUF:
        assert "OTLP's protobuf" in Status.FromString(reply.content).message


async def test_a_bomb_is_refused_at_its_bound(
    api: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MAX_BYTES", 1 << 20)
    bomb = gzip.compress(bytes(8 << 20))
    headers = {**PROTOBUF, "Content-Encoding": "gzip"}
    reply = await api.post("/v1/traces", content=bomb, headers=headers)
    assert reply.status_code == 413


async def test_a_gateway_that_is_behind_says_when_to_come_again(
    api: httpx2.AsyncClient, waiting: list[IntakeBacklog]
) -> None:
    waiting[0] = IntakeBacklog(queued=MAX_QUEUED + 1)
    reply = await send(api, make_span(0, at_ns=now_ns()))
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")
    assert "not handled yet" in Status.FromString(reply.content).message


@pytest.mark.parametrize("where", ["traces", "logs"])
async def test_only_who_may_send_answers_may_send_signals(
    api: httpx2.AsyncClient, where: str
) -> None:
    assert (await send(api, where=where)).status_code == 200
    assert (await send(api, where=where, **READER)).status_code == 403
    assert (await send(api, where=where, Authorization="Bearer no")).status_code == 401


@pytest.fixture
def join(
    bus: ProvisionedBus, store: Store, settings: GatewaySettings
) -> Callable[[timedelta], Any]:
    async def joined(later: timedelta) -> int:
        """Do what the gateway's job does, so much later."""
        answers = AnswerJoiner(
            store, lambda scoped: signal_intake(scoped, settings),
            now=lambda: datetime.now(UTC) + later,
        )  # fmt: skip
        ended = answers.settled()
        await publish_exchanges(bus.publisher, ended.exchanges)
        answers.remove(ended)
        return len(ended.exchanges)

    return joined


@pytest.mark.parametrize("spans_first", [True, False])
async def test_a_span_and_its_log_events_in_several_batches_are_one_exchange(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store, join: Any, spans_first: bool
) -> None:
    span = make_span(1, at_ns=now_ns(), attributes=NO_CONTENT)
    request = make_event(1, "gen_ai.user.message", {"content": "I am eva@example.org."}, 1)
    event = make_event(1, "gen_ai.choice", {"index": 0, "message": {"content": "Hello."}}, 2)
    batches = [
        ("traces", span),
        ("logs", event),
        ("logs", request),
        ("logs", event),
        ("traces", span),
    ]
    for where, signal in batches if spans_first else reversed(batches):
        assert (await send(api, signal, where=where)).status_code == 200
    assert await join(timedelta()) == 0  # more may come
    assert await join(SETTLE_TIME) == 1
    assert await join(MAX_WAIT) == 0
    accepted = ReceivedRecords()
    bus.work(Stage("gateway", Exchange, accepted.handle))
    await accepted.wait_for(1)
    (exchange,) = accepted.records
    assert [item.content for item in exchange.asked] == ["I am [email]."]
    assert (exchange.text, exchange.unit_id) == ("Hello.", "u-1")
    assert exchange.groups == {"gender": "female"}
    assert exchange.redacted == {"email": 1}


def agent_trace(*, texts_in: str = "agent") -> list[Signal]:
    """Return the spans of an agent below a web request, in the order of their ends."""
    root = make_span(1, at_ns=now_ns(), attributes={"gen_ai.operation.name": "invoke_agent"})
    silent = {**root.attributes, **dict.fromkeys(NO_CONTENT)}
    if texts_in != "agent":
        root = replace(root, attributes={k: v for k, v in silent.items() if v is not None})
    handler = replace(make_span(0), attributes={"http.route": "/ask"}, trace_id=root.trace_id)
    root = replace(root, parent_id=handler.span_id)
    chain = replace(make_span(5), attributes={"a": "b"}, trace_id=root.trace_id)
    chain = replace(chain, parent_id=root.span_id)
    calls = [
        replace(make_span(n, at_ns=n), trace_id=root.trace_id, parent_id=chain.span_id)
        for n in (2, 3)
    ]
    return [*calls, chain, root, handler]


@pytest.mark.parametrize("texts_in", ["agent", "steps"])
@pytest.mark.parametrize("in_order", [True, False])
async def test_an_agent_whose_spans_come_one_by_one_has_one_answer(
    api: httpx2.AsyncClient, bus: ProvisionedBus, join: Any, texts_in: str, in_order: bool
) -> None:
    spans = agent_trace(texts_in=texts_in)
    for span in spans if in_order else spans[::-1]:
        assert (await send(api, span)).content == b""
    assert await join(timedelta()) == 0
    # a root that arrives before any call is not remembered
    assert await join(SETTLE_TIME if in_order else MAX_WAIT) == 1
    await send(api, *spans[:2])  # an exporter that repeats its first request
    assert await join(2 * MAX_WAIT) == 0
    accepted = ReceivedRecords()
    bus.work(Stage("gateway", Exchange, accepted.handle))
    await accepted.wait_for(1)
    (exchange,) = accepted.records
    assert exchange.text == ("Answer 1." if texts_in == "agent" else "Answer 3.")
    assert exchange.unit_id == "u-1"


async def test_the_answers_of_a_trace_do_not_depend_on_how_it_is_split(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store, join: Any
) -> None:
    first, *more = agent_trace()
    *_, agent, handler = more
    guard = replace(make_span(7, at_ns=now_ns()), trace_id=agent.trace_id)
    second = replace(agent, span_id="e" * 16, attributes={**agent.attributes, "user.id": "u-2"})
    spans = [replace(guard, parent_id=handler.span_id), first, *more[:-1], second, handler]
    for start in range(0, len(spans), 3):
        await send(api, *spans[start : start + 3])
    assert await join(SETTLE_TIME) == 3  # the guard and two agents
    await send(api, *spans)
    assert await join(SETTLE_TIME) == 3
    assert await responses_of(bus, store) == 3


async def test_a_call_waits_for_its_parents_and_not_for_those_in_another_process(
    api: httpx2.AsyncClient, join: Any
) -> None:
    body = json_of([make_span(1, at_ns=now_ns()), make_span(2, at_ns=now_ns())])
    spans = [item["scopeSpans"][0]["spans"][0] for item in body["resourceSpans"]]
    spans[0] |= {"parentSpanId": "f" * 16}
    spans[1] |= {"parentSpanId": "f" * 16, "flags": 0x301}
    assert (await api.post("/v1/traces", json=body)).json() == {}
    assert await join(SETTLE_TIME) == 0
    assert await join(MAX_WAIT) == 1


async def test_parts_that_arrive_while_a_trace_is_joined_are_kept(
    api: httpx2.AsyncClient, store: Store, settings: GatewaySettings, join: Any
) -> None:
    joiner = AnswerJoiner(
        store, lambda item: signal_intake(item, settings), now=lambda: datetime.now(UTC) + MAX_WAIT
    )
    first = replace(make_span(1, at_ns=now_ns()), parent_id="f" * 16)
    await send(api, first)
    settled = joiner.settled()
    await send(api, replace(first, span_id="e" * 16))
    joiner.remove(settled)
    assert await join(MAX_WAIT) == 1


async def test_events_whose_span_never_comes_are_an_answer_without_a_user(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store, join: Any
) -> None:
    event = make_event(1, "gen_ai.choice", {"index": 0, "message": {"content": "x"}}, now_ns())
    await send(api, event, where="logs")
    await send(api, make_span(2, at_ns=now_ns(), attributes=NO_CONTENT))  # capture is off
    assert await join(SETTLE_TIME) == 0
    assert await join(MAX_WAIT) == 1
    assert await responses_of(bus, store) == 1


async def test_a_second_joining_before_the_removal_is_the_same_sending(
    api: httpx2.AsyncClient, store: Store, settings: GatewaySettings
) -> None:
    await send(api, make_span(8, at_ns=now_ns(), attributes=NO_CONTENT))
    event = make_event(8, "gen_ai.choice", {"index": 0, "message": {"content": "x"}}, now_ns())
    await send(api, event, where="logs")
    later = datetime.now(UTC) + 2 * MAX_WAIT
    answers = AnswerJoiner(store, lambda item: signal_intake(item, settings), now=lambda: later)
    for span in agent_trace():
        await send(api, span)
    first, again = answers.settled().exchanges, answers.settled().exchanges
    assert len(first) == 2
    assert [(item.id, item.sending) for item in first] == [
        (item.id, item.sending) for item in again
    ]


async def test_a_paused_monitor_takes_no_signals(api: httpx2.AsyncClient, store: Store) -> None:
    monitor = make_traffic_monitor()
    moment = {"moment_ms": monitor.moment_ms + 1, "state": MonitorState.PAUSED}
    store.records.write([monitor.model_copy(update=moment)])
    reply = await send(api, make_span(0, at_ns=now_ns()))
    partial = ExportTraceServiceResponse.FromString(reply.content).partial_success
    assert partial.rejected_spans == 1
    assert "No active monitor watches the traffic support" in partial.error_message
    assert store.window_answers.accounts(monitor.monitor_id).refused == 1
    assert store.unwatched_answers.read() == []


def unwatched(store: Store) -> dict[str, int]:
    return {item.source: item.answers for item in store.unwatched_answers.read()}


async def test_answers_of_services_that_nobody_watches_are_counted_by_service(
    api: httpx2.AsyncClient, store: Store
) -> None:
    spans = [
        make_span(n, at_ns=now_ns(), resource={"service.name": name} if name else {})
        for n, name in enumerate(("billing", "billing", "search", ""))
    ]
    reply = await send(api, make_span(9, at_ns=now_ns()), *spans)
    partial = ExportTraceServiceResponse.FromString(reply.content).partial_success
    assert partial.rejected_spans == 4
    assert unwatched(store) == {"billing": 2, "search": 1, "(no name)": 1}
    body = (await api.get("/v1/unwatched", headers=READER)).json()
    assert {item["source"]: item["answers"] for item in body} == unwatched(store)


async def test_an_answer_that_came_apart_and_nobody_watches_is_counted_once_by_two_gateways(
    api: httpx2.AsyncClient, store: Store, settings: GatewaySettings
) -> None:
    billing = {"service.name": "billing"}
    await send(api, make_span(1, at_ns=now_ns(), attributes=NO_CONTENT, resource=billing))
    event = make_event(1, "gen_ai.choice", {"index": 0, "message": {"content": "x"}}, now_ns())
    await send(api, replace(event, resource=billing), where="logs")
    later = datetime.now(UTC) + MAX_WAIT
    gateways = [
        AnswerJoiner(store, lambda item: signal_intake(item, settings), now=lambda: later)
        for _ in range(2)
    ]
    both = [gateway.settled() for gateway in gateways]
    for gateway, ended in zip(gateways, both, strict=True):
        assert (ended.exchanges, ended.unwatched.total()) == ([], 1)
        gateway.remove(ended)
    assert unwatched(store) == {"billing": 1}


def keys(public: str, secret: str) -> dict[str, str]:
    return {"Authorization": f"Basic {b64encode(f'{public}:{secret}'.encode()).decode()}"}


@pytest.mark.parametrize("public", ["default", "the ingest token", "default/the ingest token"])
async def test_langfuse_keys_are_a_token_and_its_name_or_tenant(
    api: httpx2.AsyncClient, bus: ProvisionedBus, store: Store, public: str
) -> None:
    body, headers = protobuf_of([make_span(0, at_ns=now_ns())]), keys(public, "sender")
    sent = await api.post(LANGFUSE, content=body, headers={**PROTOBUF, **headers})
    assert (sent.status_code, sent.content) == (200, b"")
    assert await responses_of(bus, store) == 1
    (project,) = (await api.get("/api/public/projects", headers=headers)).json()["data"]
    assert project["id"] == "default"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (keys("another", "sender"), 401),
        (keys("default", "no"), 401),
        (keys("the read token", "reader"), 403),
        ({"Authorization": "Basic not base64"}, 401),
        ({"Authorization": "Basic ="}, 401),
        ({"Authorization": f"Basic {b64encode(bytes([255, 58])).decode()}"}, 401),
    ],
)
async def test_other_keys_are_refused(
    api: httpx2.AsyncClient, headers: dict[str, str], status: int
) -> None:
    reply = await api.post(LANGFUSE, content=b"", headers={**PROTOBUF, **headers})
    assert reply.status_code == status


async def test_keys_are_known_on_the_paths_of_langfuse_alone(api: httpx2.AsyncClient) -> None:
    for path in ("/v1/traces", "/v1/responses"):
        reply = await api.post(path, content=b"{}", headers=keys("default", "sender"))
        assert reply.status_code == 401
