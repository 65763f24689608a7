"""Instrumentations of others, unchanged: each call becomes exactly one exchange, with all of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biaswatch.importing.log_files import LogFile
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.services.extractor.handlers.measuring import MeasureResponses
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.otlp.intake import signal_intake
from biaswatch.services.gateway.otlp.joining import MAX_WAIT, AnswerJoiner
from biaswatch.services.gateway.otlp.wire import format_of, unpacked
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.traffic.batches import publish_exchanges
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.simulator.app import build
from biaswatch.services.simulator.settings import SimulatorSettings
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Exchange, Method, Response, WatchedFeature
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.commands import CommandLine
from tests.support.diagnosed_logs import export_of, numbers
from tests.support.otlp import body_of, json_of, signals_of
from tests.support.records import make_traffic_monitor
from tests.support.waiting import PATIENCE_S
from tests.support.watched_answers import watched_store

ROOT = Path(__file__).parents[2]
CALLS = 24
ENVIRONMENTS = {
    "genai-events": "1_36",
    "genai-span": "current",
    "genai-event": "current",
    "openinference": "current",
    "traceloop": "current",
    "langfuse": "current",
    "langfuse-exporter": "current",
}
MAPPING = "groups: {gender: langfuse.trace.metadata.gender}"


class RecordedRequests:
    """Keeps what clients send, so that it can be sent again."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.sent: list[tuple[str, dict[str, str], bytes]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and keep it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = bytearray()

        async def kept() -> Message:
            message = await receive()
            body.extend(message.get("body", b""))
            return message

        await self._app(scope, kept, send)
        names = {name.decode(): value.decode() for name, value in scope["headers"]}
        wanted = {"content-type", "content-encoding", "authorization"}
        headers = {name: value for name, value in names.items() if name in wanted}
        if body:
            self.sent.append((scope["path"], headers, bytes(body)))


class Collector:
    """A gateway that watches the service `support`, and what came of its requests."""

    def __init__(self, store: Store, bus: ProvisionedBus, folder: Path) -> None:
        (folder / "mapping.yaml").write_text(MAPPING)
        self._settings = GatewaySettings(
            gateway_ingest_token=SecretStr("sender"), gateway_mapping_file=folder / "mapping.yaml"
        )
        self._store, self._bus = store, bus
        self.app = RecordedRequests(web_app(self._settings, store, bus.publisher))
        self.url = ""

    async def join(self) -> int:
        """Join what waits, as the gateway's job does a minute later."""
        later = datetime.now(UTC) + MAX_WAIT
        joined = AnswerJoiner(
            self._store, lambda store: signal_intake(store, self._settings), now=lambda: later
        )
        ended = joined.settled()
        await publish_exchanges(self._bus.publisher, ended.exchanges)
        joined.remove(ended)
        return len(ended.exchanges)

    async def again(self) -> None:
        """Send all requests once more, the last first."""
        async with httpx2.AsyncClient(base_url=self.url, timeout=PATIENCE_S) as client:
            for path, headers, body in list(reversed(self.app.sent)):
                reply = await client.post(path, content=body, headers=headers)
                assert reply.status_code == 200, reply.text


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with watched_store(tmp_path) as store:
        yield store


@pytest.fixture
async def model() -> AsyncIterator[str]:
    async with web_server(build(SimulatorSettings()), "127.0.0.1", 0) as port:
        yield f"http://127.0.0.1:{port}/v1"


@pytest.fixture
async def collector(bus: ProvisionedBus, store: Store, tmp_path: Path) -> AsyncIterator[Collector]:
    result = Collector(store, bus, tmp_path)
    async with web_server(result.app, "127.0.0.1", 0) as port:
        result.url = f"http://127.0.0.1:{port}"
        yield result


async def asked(kind: str, model: str, collector: str) -> list[dict[str, Any]]:
    """Run a client; return each request and the model's reply."""
    python = ROOT / ".venv-otlp" / ENVIRONMENTS[kind] / "bin" / "python"
    calls = Path(__file__).with_name("calls.py")
    process = await asyncio.create_subprocess_exec(
        python, calls, kind, model, collector, str(CALLS),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, wrong = await process.communicate()
    assert process.returncode == 0, wrong.decode()[-2000:]
    calls_made: list[dict[str, Any]] = json.loads(output.decode().strip().splitlines()[-1])
    return calls_made


def text_of(call: dict[str, Any]) -> str:
    return str(call["response"]["choices"][0]["message"]["content"])


@pytest.mark.parametrize("kind", ENVIRONMENTS)
async def test_each_call_is_one_exchange_with_text_model_unit_and_group(
    kind: str, model: str, collector: Collector, bus: ProvisionedBus
) -> None:
    calls = await asked(kind, model, collector.url)
    await collector.join()
    taken = ReceivedRecords()
    bus.work(Stage("gateway", Exchange, taken.handle))
    await taken.wait_for(CALLS)
    records = sorted(taken.records, key=lambda record: int(record.unit_id.removeprefix("u-")))
    assert [item.unit_id for item in records] == [f"u-{n}" for n in range(CALLS)]
    assert [item.text for item in records] == [text_of(item) for item in calls]
    assert {item.model for item in records} == {"biased"}
    assert [item.groups["gender"] for item in records] == ["male", "female"] * (CALLS // 2)
    questions = [[item.content for item in one.asked] for one in records]
    assert questions == [
        ["Be kind.", f"What is said of a {'female' if n % 2 else 'male'} person, number {n}?"]
        for n in range(CALLS)
    ]


@pytest.mark.parametrize("kind", ENVIRONMENTS)
async def test_requests_that_are_sent_again_in_another_order_add_no_answer(
    kind: str, model: str, collector: Collector, bus: ProvisionedBus, store: Store
) -> None:
    await asked(kind, model, collector.url)
    await collector.join()
    await collector.again()
    await collector.join()
    ingest: Any = ExchangeIngestion(store, now=lambda: datetime.now(UTC))
    stage = Stage("gateway", Exchange, ingest, slots=1, batch=64)
    bus.work(stage)
    await bus.settled(stage)
    assert await bus.count(Response) == CALLS
    counted = store.window_answers.accounts(make_traffic_monitor().monitor_id)
    assert (counted.sent, counted.duplicate) == (2 * CALLS, CALLS)


async def measured_live(
    bus: ProvisionedBus, store: Store, folder: Path, taken: ReceivedRecords
) -> dict[str, list[str]]:
    """Return the numbers of the answers that were sent in, as `export` and `diagnose` have them."""
    bus.work(Stage("gateway", Exchange, taken.handle))
    await taken.wait_for(CALLS)
    now = datetime.now(UTC)
    responses = list(ExchangeIngestion(store, now=lambda: now)(taken.records))
    measure = MeasureResponses(load(["vader"]), store.baselines, now=lambda: now)
    store.records.write([*responses, *measure(responses)])
    path = folder / "live.parquet"
    assert await export_of(store, "support", path) == CALLS
    return await diagnosed(
        folder, str(path), "--group", "groups.gender", "--feature", "vader.sentiment",
        "--unit", "unit",
    )  # fmt: skip


async def diagnosed(folder: Path, *what: str) -> dict[str, list[str]]:
    result = await asyncio.to_thread(CommandLine(folder / "state"), "diagnose", *what, "--json")
    assert result.returncode == 0, result.stderr
    return numbers(result.stdout)


async def diagnosed_log(folder: Path, log: Path, mapping: str) -> dict[str, list[str]]:
    (folder / "map.yaml").write_text(mapping)
    return await diagnosed(
        folder, str(log), "--extract", "vader", "--group", "gender", "--feature", "sentiment",
        "--map", str(folder / "map.yaml"),
    )  # fmt: skip


def written(path: Path, rows: Iterable[Any]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def requests_in(collector: Collector) -> Iterator[Any]:
    """Yield what clients sent as a collector writes it to a file."""
    for path, headers, body in collector.app.sent:
        plain = unpacked(body_of(body), headers.get("content-encoding", ""))
        sent_as = format_of(headers["content-type"])
        yield json_of(signals_of(plain, sent_as, path.rpartition("/")[2]))


@pytest.fixture
def measured_store(tmp_path: Path) -> Iterator[Store]:
    watched = WatchedFeature(
        extractor="vader", feature="sentiment", high=1, low=-1, method=Method.TWO_GROUPS
    )
    plan = make_traffic_monitor().plan.model_copy(update={"features": (watched,)})
    (tmp_path / "measured").mkdir()
    with watched_store(tmp_path / "measured", make_traffic_monitor(plan=plan)) as store:
        yield store


@pytest.mark.parametrize("kind", ENVIRONMENTS)
async def test_the_same_requests_in_a_file_are_the_same_answers_and_numbers(
    kind: str, model: str, collector: Collector, bus: ProvisionedBus, measured_store: Store,
    tmp_path: Path,
) -> None:  # fmt: skip
    await asked(kind, model, collector.url)
    await collector.join()
    taken = ReceivedRecords()
    live = await measured_live(bus, measured_store, tmp_path, taken)
    file = written(tmp_path / "log.jsonl", requests_in(collector))
    mapping = MappingFile.model_validate({"groups": {"gender": "langfuse.trace.metadata.gender"}})
    answers = [answer for _, answer in LogFile(file, None, mapping, "support").answers()]
    of_file = {answer["id"]: (answer["text"], answer["unit"], answer["groups"], answer["at"])
               for answer in answers}  # fmt: skip
    assert len(answers) == CALLS
    assert of_file == {
        record.key: (record.text, record.unit_id, record.groups, record.said_at)
        for record in taken.records
    }
    assert await diagnosed_log(tmp_path, file, MAPPING) == live


def batch_line(call: dict[str, Any], n: int) -> dict[str, Any]:
    """Return a call as a line of a batch's output has it, with what its owner adds."""
    body = {"status_code": 200, "request_id": f"r-{n}", "body": call["response"]}
    user, metadata = call["request"]["user"], call["request"]["metadata"]
    return {"id": f"batch_{n}", "custom_id": f"c-{n}", "response": body, "error": None,
            "user": user, "metadata": metadata}  # fmt: skip


@pytest.mark.parametrize(
    ("format_", "mapping"),
    [
        ("openai", "groups: {gender: request.metadata.gender}"),
        ("openai-batch", "unit: user\ngroups: {gender: metadata.gender}"),
    ],
)
async def test_replies_that_the_client_logs_have_the_numbers_of_its_spans(
    format_: str, mapping: str, model: str, collector: Collector, bus: ProvisionedBus,
    measured_store: Store, tmp_path: Path,
) -> None:  # fmt: skip
    calls = await asked("genai-span", model, collector.url)
    await collector.join()
    live = await measured_live(bus, measured_store, tmp_path, ReceivedRecords())
    rows = calls if format_ == "openai" else [batch_line(call, n) for n, call in enumerate(calls)]
    log = written(tmp_path / "log.jsonl", rows)
    assert await diagnosed_log(tmp_path, log, mapping) == live
