"""Own traces and logs: one trace for each record's journey, at a real receiver; off by default."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from biaswatch.services.extractor.handlers.loading import load
from biaswatch.services.extractor.handlers.measuring import MeasureResponses
from biaswatch.services.recorder.app import recording
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Exchange, Features, Record, Response
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.own_telemetry import own_telemetry
from biaswatch.shared.runtime.settings import Settings
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.telemetry import configure_logs, log
from biaswatch.shared.tracing import current_context
from tests.support.bus import ProvisionedBus
from tests.support.otlp_receiver import OtlpServer, otlp_server
from tests.support.records import make_exchange, make_response
from tests.support.waiting import eventually


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield store


@pytest.fixture
def receiver() -> Iterator[OtlpServer]:
    with otlp_server() as result:
        yield result


def respond(batch: Sequence[Exchange]) -> list[Record]:
    """Answer exchanges as the gateway's stage does, in another order."""
    result: list[Record] = []
    for exchange in reversed(batch):
        response = make_response()
        probe = response.probe.model_copy(update={"key": exchange.key, "measure": ("words",)})
        result.append(response.model_copy(update={"probe": type(probe)(**dict(probe))}))
    log("gateway").info("responses", count=len(result))
    return result


def stages(store: Store) -> list[Stage[Any]]:
    measure: Any = MeasureResponses(load(["words"]), store.baselines, now=lambda: datetime.now(UTC))
    record: Any = recording(store.records)
    return [
        Stage("gateway", Exchange, respond, slots=1, batch=8, linger_s=0.2),
        Stage("extractor", Response, measure, slots=1, batch=8, linger_s=0.2),
        Stage("recorder", Features, record, slots=1, batch=8),
    ]


async def run_through(bus: ProvisionedBus, store: Store, answers: int) -> None:
    for stage in stages(store):
        bus.work(stage)
    await bus.publish(*(make_exchange(n) for n in range(answers)))
    await eventually(lambda: len(list(store.records.all(Features))) == answers)


async def test_each_records_journey_is_one_trace_through_every_service(
    bus: ProvisionedBus, store: Store, receiver: OtlpServer
) -> None:
    with own_telemetry("test", Settings(telemetry_url=receiver.url)):
        await run_through(bus, store, 3)
        await bus.settled(stages(store)[2])
    journeys: dict[str, list[Any]] = defaultdict(list)
    for service, span in receiver.spans:
        assert service == "biaswatch-test"
        journeys[span.trace_id.hex()].append(span)
    assert len(journeys) == 3
    for spans in journeys.values():
        by_start = [span.name for span in sorted(spans, key=lambda span: span.start_time_unix_nano)]
        assert by_start == [
            "publish exchange", "handle exchange", "handle response", "handle features"
        ]  # fmt: skip
        ids = {span.span_id for span in spans}
        assert [span.parent_span_id in ids for span in spans].count(False) == 1  # the first alone


async def test_tracing_changes_no_id_and_no_message_id(
    bus: ProvisionedBus, store: Store, receiver: OtlpServer
) -> None:
    (stage, *_) = stages(store)
    consumer = bus.consumer(stage)
    await consumer.restore()
    await bus.publish(make_exchange(0))
    with own_telemetry("test", Settings(telemetry_url=receiver.url)):
        await bus.publish(make_exchange(1))
    result = [await consumer.take(1) for _ in range(2)]
    plain, traced = (item[0] for item in result)
    assert plain.trace_context == ""
    assert traced.trace_context.startswith("00-")
    assert traced.message_id == f"{make_exchange(1).id}/0"
    assert Exchange.decode(traced.data).id == make_exchange(1).id
    await consumer.close()


async def test_without_an_address_no_message_has_a_context(
    bus: ProvisionedBus, store: Store
) -> None:
    consumer = bus.consumer(stages(store)[0])
    await consumer.restore()
    with own_telemetry("test", Settings()):
        await bus.publish(make_exchange())
    (result,) = await consumer.take(1)
    assert result.trace_context == ""
    assert current_context() == ""
    await consumer.close()


async def test_of_no_share_nothing_is_traced(
    bus: ProvisionedBus, store: Store, receiver: OtlpServer
) -> None:
    settings = Settings(telemetry_url=receiver.url, telemetry_share=0.0)
    with own_telemetry("test", settings):
        await run_through(bus, store, 2)
    assert receiver.spans == []


async def test_logs_come_too_within_the_trace_and_without_long_values(
    receiver: OtlpServer, bus: ProvisionedBus
) -> None:
    configure_logs("INFO")

    async def handle(record: Exchange) -> list[Record]:
        log("gateway").warning("seen", key=record.key, text="x" * 5000)
        return []

    stage = Stage("gateway", Exchange, handle, slots=1)
    with own_telemetry("test", Settings(telemetry_url=receiver.url)):
        bus.work(stage)
        await bus.publish(make_exchange())
        await bus.settled(stage)
    (entry,) = [event for event in receiver.events if event.body.string_value == "seen"]
    (trace,) = {span.trace_id for _, span in receiver.spans}
    assert entry.trace_id == trace
    assert entry.severity_text == "WARNING"
    assert max(len(attribute.value.string_value) for attribute in entry.attributes) == 200


async def test_a_receiver_that_is_away_holds_nothing_up(bus: ProvisionedBus, store: Store) -> None:
    with own_telemetry("test", Settings(telemetry_url="http://127.0.0.1:9")):
        await run_through(bus, store, 2)


def test_a_wrong_file_of_headers_is_a_sentence_without_its_content(tmp_path: Path) -> None:
    file = tmp_path / "headers.yaml"
    file.write_text("Authorization: [secret]")
    settings = Settings(telemetry_url="http://127.0.0.1:9", telemetry_headers_file=file)
    with pytest.raises(ConfigurationError) as wrong, own_telemetry("test", settings):
        pass
    assert "secret" not in str(wrong.value)
