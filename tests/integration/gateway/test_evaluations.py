"""Measurements go back to the traces they are about: over a real bus, to a real receiver."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client import REGISTRY

from biaswatch.services.extractor.handlers.loading import load
from biaswatch.services.extractor.handlers.measuring import MeasureResponses
from biaswatch.services.gateway.app import (
    evaluation_endpoint,
    evaluation_stage,
    ingestion_stage,
    web_app,
)
from biaswatch.services.gateway.otlp.evaluations import EvaluationExport
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import CallSpan, Features, Response
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.bus import ProvisionedBus
from tests.support.otlp import make_span, protobuf_of
from tests.support.otlp_receiver import OtlpServer, otlp_server
from tests.support.records import make_exchange, make_features, make_traffic_monitor
from tests.support.waiting import PATIENCE_S, eventually
from tests.support.watched_answers import watched_store

PROTOBUF = {"Content-Type": "application/x-protobuf"}
SPAN = CallSpan(trace_id="ab" * 16, span_id="cd" * 8)


def now() -> datetime:
    return datetime.now(UTC)


def measured(number: int = 0, **fields: Any) -> Features:
    values = {"at": now(), "span": SPAN, "values": {"words": 2.0}}
    return make_features(number, **{**values, **fields})


def counted(outcome: str) -> float:
    return REGISTRY.get_sample_value("biaswatch_evaluations_total", {"outcome": outcome}) or 0.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    two = make_traffic_monitor(), make_traffic_monitor(name="second")
    with watched_store(tmp_path, *two) as store:
        yield store


@pytest.fixture
def receiver() -> Iterator[OtlpServer]:
    with otlp_server() as result:
        yield result


def settings_for(receiver: OtlpServer, **more: Any) -> GatewaySettings:
    values = {
        "gateway_evaluations_url": f"{receiver.url}/v1/logs",
        "gateway_evaluations_private_hosts": ("127.0.0.1",),
    }
    return GatewaySettings(**{**values, **more})


@pytest.fixture
async def exporting(bus: ProvisionedBus) -> AsyncIterator[Callable[..., Any]]:
    """Return what starts the stage of evaluations with some settings."""
    opened = []

    def start(settings: GatewaySettings) -> Any:
        endpoint = evaluation_endpoint(settings)
        assert endpoint is not None
        opened.append(endpoint)
        stage = evaluation_stage(endpoint, settings)
        return stage, bus.work(stage)

    yield start
    for item in opened:
        await item.close()


async def test_a_traced_answer_is_measured_and_told_once_to_its_own_span(
    bus: ProvisionedBus, store: Store, receiver: OtlpServer, exporting: Callable[..., Any]
) -> None:
    settings = settings_for(receiver)
    async with (
        web_server(web_app(settings, store, bus.publisher), "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        at_ns = int(now().timestamp() * 1e9)
        named = {"gen_ai.response.id": "chatcmpl-7"}
        body = protobuf_of([make_span(n, at_ns=at_ns, attributes=named) for n in range(5)])
        reply = await client.post("/v1/traces", content=body, headers=PROTOBUF)
        assert reply.status_code == 200
    bus.work(ingestion_stage(store, settings))
    measure: Any = MeasureResponses(load(["words"]), store.baselines, now=now)
    bus.work(Stage("extractor", Response, measure, batch=16))
    exporting(settings)
    features = 2 * 5  # two monitors watch, and each has its own measurement of every answer
    await eventually(lambda: _reached(bus, features, receiver, 2 * 5))
    spans = {(event.trace_id.hex(), event.span_id.hex()) for event in receiver.events}
    assert spans == {(f"{n + 1:032x}", f"{n + 1:016x}") for n in range(5)}
    names = sorted(_fields(event)["gen_ai.evaluation.name"] for event in receiver.events)
    assert names == ["words.words"] * 5 + ["words.words_per_sentence"] * 5
    assert {_fields(event)["gen_ai.response.id"] for event in receiver.events} == {"chatcmpl-7"}
    assert {event.event_name for event in receiver.events} == {"gen_ai.evaluation.result"}


async def _reached(bus: ProvisionedBus, features: int, receiver: OtlpServer, events: int) -> bool:
    return await bus.count(Features) == features and len(receiver.events) == events


def _fields(event: Any) -> dict[str, str]:
    return {attribute.key: attribute.value.string_value for attribute in event.attributes}


def test_without_an_endpoint_no_response_carries_a_span_and_no_stage_reads_features(
    store: Store,
) -> None:
    settings = GatewaySettings()
    assert evaluation_endpoint(settings) is None
    handle: Any = ingestion_stage(store, settings).handler
    (one, two) = handle([make_exchange(at=now(), said_at=now(), span=SPAN)])
    assert (one.evaluated, two.evaluated) == (None, None)


def test_another_tenants_answers_are_told_to_nobody(store: Store, receiver: OtlpServer) -> None:
    settings = settings_for(receiver, gateway_evaluations_tenants=("acme",))
    handle: Any = ingestion_stage(store, settings).handler
    result = handle([make_exchange(at=now(), said_at=now(), span=SPAN)])
    assert [item.evaluated for item in result] == [None, None]


async def test_while_the_endpoint_refuses_evaluations_wait_and_then_all_come(
    bus: ProvisionedBus, receiver: OtlpServer
) -> None:
    receiver.statuses = [503, 401, 404, 429]
    endpoint = evaluation_endpoint(settings_for(receiver))
    assert endpoint is not None
    export = EvaluationExport(endpoint, ("default",), now=now, jitter=lambda: -1.0)  # no pause
    stage = Stage("gateway", Features, export, slots=1, batch=64)
    bus.work(stage)
    before = counted("sent")
    await bus.publish(*(measured(n) for n in range(3)))
    await bus.settled(stage)
    assert len(receiver.events) == 3
    assert counted("sent") == before + 3
    assert await bus.dead() == []
    await endpoint.close()


async def test_what_the_endpoint_cannot_read_is_counted_and_holds_nothing_up(
    bus: ProvisionedBus, receiver: OtlpServer, exporting: Callable[..., Any]
) -> None:
    before = counted("refused")
    receiver.statuses = [400]
    stage, _ = exporting(settings_for(receiver))
    await bus.publish(measured(0))
    await bus.settled(stage)
    receiver.rejects = 1
    await bus.publish(measured(1))
    await bus.settled(stage)
    assert counted("refused") == before + 2
    assert await bus.dead() == []


async def test_measurements_of_yesterday_and_without_a_span_are_not_sent(
    bus: ProvisionedBus, receiver: OtlpServer, exporting: Callable[..., Any]
) -> None:
    before = counted("expired")
    stage, _ = exporting(settings_for(receiver))
    await bus.publish(
        measured(0, at=now() - timedelta(days=2)), measured(1, span=None), measured(2)
    )
    await bus.settled(stage)
    assert len(receiver.events) == 1
    assert counted("expired") == before + 1


async def test_a_private_address_is_asked_only_where_the_operator_has_named_it(
    bus: ProvisionedBus, receiver: OtlpServer, exporting: Callable[..., Any]
) -> None:
    stage, worker = exporting(settings_for(receiver, gateway_evaluations_private_hosts=()))
    await bus.publish(measured())
    troubles = {"part": "evaluations", "error": "TransientError"}
    before = REGISTRY.get_sample_value("biaswatch_troubles_total", troubles) or 0.0
    await eventually(
        lambda: (REGISTRY.get_sample_value("biaswatch_troubles_total", troubles) or 0) > before
    )
    assert receiver.requests == 0
    await worker.stop(grace_s=2)  # what is held goes back to the bus, for whoever comes next
    info = await bus.durable_info("FEATURES", stage.durable)
    assert info["ack_floor"]["stream_seq"] == 0


async def test_headers_come_from_a_file_that_may_change_and_are_in_no_error(
    tmp_path: Path, bus: ProvisionedBus, receiver: OtlpServer, exporting: Callable[..., Any]
) -> None:
    file = tmp_path / "headers.yaml"
    file.write_text("Authorization: Bearer first")
    stage, _ = exporting(settings_for(receiver, gateway_evaluations_headers_file=file))
    await bus.publish(measured(0))
    await bus.settled(stage)
    file.write_text("Authorization: Bearer second")
    await bus.publish(measured(1))
    await bus.settled(stage)
    assert [header["authorization"] for header in receiver.headers] == [
        "Bearer first",
        "Bearer second",
    ]
    file.write_text('Authorization: "Bearer se\\ncret"')
    with pytest.raises(ConfigurationError) as wrong:
        evaluation_endpoint(settings_for(receiver, gateway_evaluations_headers_file=file))
    assert "cret" not in str(wrong.value)
