"""Large, odd and abandoned bodies on real connections, sent by two tenants."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from structlog.testing import capture_logs

from biaswatch.services.gateway import middleware
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.bodies import DISK, READ_PER_TENANT
from biaswatch.services.gateway.otlp.intake import MAX_LOGGED_SOURCES, signal_intake
from biaswatch.services.gateway.otlp.joining import MAX_WAIT, AnswerJoiner
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import Exchange, Record
from biaswatch.shared.contracts.access import verifier_of
from biaswatch.shared.conventions.answers import AnswerPart
from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.errors import BiaswatchError
from biaswatch.shared.requests.traffic import MAX_BATCH, MAX_LABELS
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from biaswatch.shared.store.database import Scope
from tests.support.api import CheckedPublisher
from tests.support.otlp import json_of, make_event, make_span, protobuf_of
from tests.support.records import make_traffic_monitor
from tests.support.waiting import PATIENCE_S, eventually
from tests.support.watched_answers import watched_store

OURS, OTHERS = "hiring", "lending"
TRACES, ANSWERS = "/v1/traces", "/v1/responses"
PROTOBUF = {"Content-Type": "application/x-protobuf"}
MIB = 1024 * 1024


class KeptExchanges(CheckedPublisher):
    """Keeps the exchanges that are published; a test may hold it up."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.begun = asyncio.Event()
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def publish_all(
        self, records: Sequence[Record], *, publication: int | Sequence[int] = 0
    ) -> Sequence[BiaswatchError | None]:
        self.begun.set()
        await self.may_go_on.wait()
        self.exchanges += [record for record in records if isinstance(record, Exchange)]
        return await super().publish_all(records, publication=publication)


@pytest.fixture
def publisher() -> KeptExchanges:
    return KeptExchanges()


@pytest.fixture
async def gateway(tmp_path: Path, publisher: KeptExchanges) -> AsyncIterator[int]:
    """Serve two tenants, each with a monitor of the system `support`; yield the port."""
    entries = [
        {"name": f"{role} {tenant}", "tenant": tenant, "role": role,
         "verifier": verifier_of(f"{role}-{tenant}")}
        for tenant in (OURS, OTHERS) for role in ("ingest", "run")
    ]  # fmt: skip
    (tmp_path / "tokens.yaml").write_text(yaml.safe_dump({"tokens": entries}))
    settings = GatewaySettings(gateway_tokens_file=tmp_path / "tokens.yaml")
    now = datetime.now(UTC)
    monitors = [make_traffic_monitor(tenant=tenant, at=now) for tenant in (OURS, OTHERS)]
    with watched_store(tmp_path, *monitors) as store:
        app = web_app(settings, store, publisher)  # type: ignore[arg-type]
        async with web_server(app, "127.0.0.1", 0) as port:
            yield port


def client(port: int, tenant: str = OURS, role: str = "ingest") -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        timeout=PATIENCE_S,
        headers={"Authorization": f"Bearer {role}-{tenant}"},
    )


def batch_of(answers: int, size: int, **fields: Any) -> dict[str, Any]:
    responses = [{"id": f"e{n}", "text": f"{n} " + "é" * size, **fields} for n in range(answers)]
    return {"source": "support", "responses": responses}


def spans_of(count: int) -> bytes:
    at_ns = int(datetime.now(UTC).timestamp() * 1e9)
    return protobuf_of([make_span(n, at_ns=at_ns) for n in range(count)])


async def pieces(body: bytes, size: int = 65536) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


async def test_a_large_batch_is_taken_whole_whatever_the_order_of_its_fields(
    gateway: int, publisher: KeptExchanges
) -> None:
    batch = batch_of(200, 10_000)
    orders = [batch, dict(reversed(batch.items()))]
    async with client(gateway) as api:
        for order in orders:
            body = json.dumps(order, ensure_ascii=False).encode()
            assert len(body) > MIB
            reply = await api.post(
                ANSWERS, content=pieces(body), headers={"Content-Type": "application/json"}
            )
            assert (reply.status_code, reply.json()["accepted"]) == (202, 200), reply.text
    assert [exchange.key for exchange in publisher.exchanges] == [f"e{n}" for n in range(200)] * 2
    assert publisher.exchanges[7].text == "7 " + "é" * 10_000
    assert len({exchange.sending for exchange in publisher.exchanges}) == 400


def wrong_batches() -> Iterable[tuple[str, bytes, str]]:
    large = batch_of(60, 20_000)
    late_mistake = json.loads(json.dumps(large))
    late_mistake["responses"][59]["text"] = None
    yield "the last answer has neither text nor reason", json.dumps(late_mistake).encode(), "e59"
    misspelt = json.loads(json.dumps(large))
    misspelt["responses"][59]["texts"] = "x"
    yield "a field that is not there", json.dumps(misspelt).encode(), "responses.59.texts"
    yield "no source", json.dumps({"responses": large["responses"]}).encode(), "source"
    yield "not JSON", json.dumps(large).encode()[:-20], "not JSON"
    yield "levels", json.dumps(large).encode()[:-2] + b',{"id":' + b"[" * 3 * MIB, "."
    yield (
        "no end",
        json.dumps(large).encode()[:-2] + b',{"id":"' + b"x" * 3 * MIB,
        "more than 2 MiB",
    )
    yield "NaN", json.dumps(large).encode()[:-2] + b',{"id":NaN}]}', "NaN"
    many = batch_of(MAX_BATCH + 1, 600)
    yield "too many answers", json.dumps(many).encode(), "1,000"
    yield "no list", b'{"source":"support","responses":{"a":"' + b"x" * 2 * MIB + b'"}}', "."


@pytest.mark.parametrize(
    ("body", "sentence"),
    [wrong_batch[1:] for wrong_batch in wrong_batches()],
    ids=[wrong_batch[0] for wrong_batch in wrong_batches()],
)
async def test_nothing_is_taken_of_a_large_batch_that_is_wrong(
    gateway: int, publisher: KeptExchanges, body: bytes, sentence: str
) -> None:
    assert len(body) > MIB
    async with client(gateway) as api:
        reply = await api.post(ANSWERS, content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 422, reply.text
    assert sentence in reply.json()["detail"]
    assert publisher.exchanges == []
    await eventually(lambda: DISK.used_bytes == 0)


async def test_an_answer_has_a_bounded_number_of_groups(gateway: int) -> None:
    for count, status in ((MAX_LABELS, 202), (MAX_LABELS + 1, 422), (10_000, 422)):
        for field in ("groups", "facts"):
            labels = {field: {f"d{n}": "x" for n in range(count)}}
            async with client(gateway) as api:
                reply = await api.post(ANSWERS, json=batch_of(1, 5, **labels))
            assert reply.status_code == status, reply.text


async def test_a_sender_that_is_still_sending_reads_why_it_is_refused(
    gateway: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(middleware.MAX_STREAMED_BYTES, ANSWERS, 2 * MIB)
    body = json.dumps(batch_of(40, 100_000)).encode()
    json_type = {"Content-Type": "application/json"}
    async with client(gateway) as api:
        for content in (body, pieces(body)):  # with its length, and chunked
            reply = await api.post(ANSWERS, content=content, headers=json_type)
            assert reply.status_code == 413
            assert "more than 2 MiB" in reply.json()["detail"]
    async with client(gateway, role="run") as api:
        reply = await api.post("/v1/runs", content=bytes(5 * MIB), headers=json_type)
        assert (reply.status_code, "more than 4 MiB" in reply.text) == (413, True)
        many = b"[" + b"[1]," * 200_000 + b"1]"
        reply = await api.post("/v1/runs", content=many, headers=json_type)
        assert (reply.status_code, "more than 200,000 values" in reply.text) == (413, True)


async def test_a_large_request_of_spans_is_taken_batch_by_batch(
    gateway: int, publisher: KeptExchanges
) -> None:
    body = spans_of(6000)
    assert len(body) > 2 * MIB
    at_ns = int(datetime.now(UTC).timestamp() * 1e9)
    as_json = json.dumps(json_of([make_span(n, at_ns=at_ns) for n in range(2000)])).encode()
    async with client(gateway) as api:
        packed = {**PROTOBUF, "Content-Encoding": "gzip"}
        assert (await api.post(TRACES, content=body, headers=PROTOBUF)).status_code == 200
        reply = await api.post(TRACES, content=pieces(gzip.compress(body)), headers=packed)
        assert reply.status_code == 200
        json_type = {"Content-Type": "application/json"}
        assert (await api.post(TRACES, content=as_json, headers=json_type)).status_code == 200
    assert len(publisher.exchanges) == 6000 + 6000 + 2000
    await eventually(lambda: DISK.used_bytes == 0)


@pytest.mark.parametrize("path", [TRACES, ANSWERS])
async def test_slow_bodies_of_one_tenant_do_not_stop_another(
    gateway: int, path: str, publisher: KeptExchanges
) -> None:
    kind = "application/x-protobuf" if path == TRACES else "application/json"
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ingest-{OURS}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: 1000000\r\n\r\n"
    )
    slow = [await asyncio.open_connection("127.0.0.1", gateway) for _ in range(3 * READ_PER_TENANT)]
    for _, writer in slow:
        writer.write(head.encode() + b"{")
        await writer.drain()
    async with client(gateway, OTHERS) as api:
        assert (await api.post(TRACES, content=spans_of(1), headers=PROTOBUF)).status_code == 200
        assert (await api.post(ANSWERS, json=batch_of(1, 5))).status_code == 202
    assert {exchange.tenant for exchange in publisher.exchanges} == {OTHERS}
    for _, writer in slow:
        writer.close()


@pytest.mark.parametrize("path", [TRACES, ANSWERS])
async def test_nothing_more_is_done_for_a_client_that_has_left(
    gateway: int, path: str, publisher: KeptExchanges
) -> None:
    large = spans_of(16_000) if path == TRACES else json.dumps(batch_of(600, 9000)).encode()
    kind = "application/x-protobuf" if path == TRACES else "application/json"
    publisher.may_go_on.clear()
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway)
    writer.write(
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ingest-{OURS}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(large)}\r\n\r\n".encode()
        + large
    )
    await writer.drain()
    await publisher.begun.wait()
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    assert await reader.read() == b""
    async with client(gateway, OTHERS) as api:  # by then the server has seen that it left
        await api.get("/v1/nothing")
    publisher.may_go_on.set()
    async with client(gateway) as api:
        reply = await api.post(TRACES, content=spans_of(1), headers=PROTOBUF)
        assert reply.status_code == 200
    sent = 16_000 if path == TRACES else 600
    await eventually(lambda: DISK.used_bytes == 0)
    assert len(publisher.exchanges) < sent / 2


def joined_of(store: Store, moment: datetime) -> AnswerJoiner:
    return AnswerJoiner(
        store, lambda scoped: signal_intake(scoped, GatewaySettings()), now=lambda: moment
    )


def test_tenants_with_the_same_keys_do_not_change_one_anothers_sendings(tmp_path: Path) -> None:
    moment = datetime.now(UTC)
    monitors = [make_traffic_monitor(tenant=tenant, at=moment) for tenant in (OURS, OTHERS)]
    apart = {"gen_ai.input.messages": None, "gen_ai.output.messages": None}
    with watched_store(tmp_path, *monitors) as store:

        def take(tenant: str) -> None:
            scoped = store.scoped(lambda: Scope(tenant=tenant))
            intake = signal_intake(scoped, GatewaySettings())
            choice = {"index": 0, "message": {"content": "x"}}
            at_ns = int(moment.timestamp() * 1e9)
            intake.accept([make_span(1, at_ns=at_ns, attributes=apart)])
            intake.accept([make_event(1, "gen_ai.choice", choice, at_ns)])

        take(OTHERS)
        alone = joined_of(store, moment + MAX_WAIT).settled().exchanges
        take(OURS)
        both = joined_of(store, moment + MAX_WAIT).settled().exchanges
    sendings = {item.tenant: item.sending for item in both}
    assert sendings[OTHERS] == alone[0].sending
    assert sendings[OURS] != sendings[OTHERS]


def test_sources_of_unread_calls_are_named_up_to_a_bound(tmp_path: Path) -> None:
    with watched_store(tmp_path) as store, capture_logs() as entries:
        intake = signal_intake(store, GatewaySettings())
        for number in range(3 * MAX_LOGGED_SOURCES):
            part = AnswerPart(f"source-{number}", "key", 0, True, RecordedContent())
            intake.log_unanswered(part)
            intake.log_unanswered(part)
    warnings = [entry for entry in entries if "without an answer" in entry["event"]]
    assert len(warnings) == MAX_LOGGED_SOURCES
