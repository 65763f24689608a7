"""Instrumentations of others, unchanged: each call becomes exactly one exchange, with all of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biaswatch.importing.log_files import LogFile
from services.gateway.app import web_app
from services.gateway.background import signal_intake
from services.gateway.otlp.intake import PATIENCE, JoinedAnswers
from services.gateway.otlp.routes import publish
from services.gateway.otlp.wire import format_of, signals_of, unpacked
from services.gateway.settings import GatewaySettings
from services.gateway.traffic.ingestion import ExchangeIngestion
from services.simulator.app import build
from services.simulator.settings import SimulatorSettings
from shared.bus.stage import Stage
from shared.contracts import Exchange, Response
from shared.conventions.mapping import MappingFile
from shared.runtime.web import web_server
from shared.store import Store
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.otlp import json_of
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
        later = datetime.now(UTC) + PATIENCE
        joined = JoinedAnswers(
            self._store, lambda each: signal_intake(each, self._settings), now=lambda: later
        )
        exchanges, operations = joined.ended()
        await publish(exchanges, self._bus.publisher.publish)
        self._store.answer_parts.remove(operations)
        return len(exchanges)

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
    found = Collector(store, bus, tmp_path)
    async with web_server(found.app, "127.0.0.1", 0) as port:
        found.url = f"http://127.0.0.1:{port}"
        yield found


async def asked(kind: str, model: str, collector: str) -> list[str]:
    """Run a client; return what the model answered it."""
    python = ROOT / ".venv-otlp" / ENVIRONMENTS[kind] / "bin" / "python"
    calls = Path(__file__).with_name("calls.py")
    process = await asyncio.create_subprocess_exec(
        python, calls, kind, model, collector, str(CALLS),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, wrong = await process.communicate()
    assert process.returncode == 0, wrong.decode()[-2000:]
    answers: list[str] = json.loads(said.decode().strip().splitlines()[-1])
    return answers


@pytest.mark.parametrize("kind", ENVIRONMENTS)
async def test_each_call_is_one_exchange_with_text_model_unit_and_group(
    kind: str, model: str, collector: Collector, bus: ProvisionedBus
) -> None:
    said = await asked(kind, model, collector.url)
    await collector.join()
    taken = ReceivedRecords()
    bus.work(Stage("gateway", Exchange, taken.handle))
    await taken.wait_for(CALLS)
    found = sorted(taken.records, key=lambda each: int(each.unit_id.removeprefix("u-")))
    assert [each.unit_id for each in found] == [f"u-{n}" for n in range(CALLS)]
    assert [each.text for each in found] == said
    assert {each.model for each in found} == {"biased"}
    assert [each.groups["gender"] for each in found] == ["male", "female"] * (CALLS // 2)
    questions = [[each.content for each in one.asked] for one in found]
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


@pytest.mark.parametrize("kind", ENVIRONMENTS)
async def test_the_same_requests_in_a_file_are_the_same_answers(
    kind: str, model: str, collector: Collector, bus: ProvisionedBus, tmp_path: Path
) -> None:
    await asked(kind, model, collector.url)
    await collector.join()
    taken = ReceivedRecords()
    bus.work(Stage("gateway", Exchange, taken.handle))
    await taken.wait_for(CALLS)
    lines = []
    for path, headers, body in collector.app.sent:
        plain = unpacked(body, headers.get("content-encoding", ""))
        sent_as = format_of(headers["content-type"])
        lines.append(json_of(signals_of(plain, sent_as, path.rpartition("/")[2])))
    file = tmp_path / "log.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    mapping = MappingFile.model_validate({"groups": {"gender": "langfuse.trace.metadata.gender"}})
    answers = [each for _, each in LogFile(file, None, mapping, "support").answers()]
    of_file = {each["id"]: (each["text"], each["unit"], each["groups"], each["at"])
               for each in answers}  # fmt: skip
    assert len(answers) == CALLS
    assert of_file == {
        each.key: (each.text, each.unit_id, each.groups, each.said_at) for each in taken.records
    }
