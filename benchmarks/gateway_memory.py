"""The peak memory of the gateway under requests that are larger or odder than it allows.

`python -m benchmarks.gateway_memory` starts a bus and the gateway as a process of its own with two
tenants, sends each attack, and prints the peak RSS that the kernel counted meanwhile. It ends with
1 where a line reaches the bar. Words choose lines: `python -m benchmarks.gateway_memory otlp`.
"""

import asyncio
import gzip
import json
import random
import resource
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import yaml

from benchmarks.measuring import (
    HOST,
    memory_mib,
    provision_bus,
    purge_exchanges,
    running,
    service_modules,
)
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts.access import verifier_of
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.runtime.web import free_port
from biaswatch.shared.store import Store, migrate
from tests.support.otlp import json_of, make_span, protobuf_of
from tests.support.records import make_run, make_traffic_monitor

BAR_MIB = 400
MIB = 1024 * 1024
TENANTS = ("hiring", "lending")
SETTLE_S = 2.0
PIECE = 256 * 1024
PROTOBUF, JSON = "application/x-protobuf", "application/json"
TIMEOUT_S = 180.0


@dataclass(frozen=True)
class Sending:
    """One request, as a client that does not care for the response's time sends it."""

    path: str
    pieces: Callable[[], Iterable[bytes]]
    content_type: str = JSON
    encoding: str = ""
    length: int | None = None
    """None: chunked, without Content-Length."""
    leaves: bool = False
    """True: the client closes the connection as soon as all is sent."""
    tenant: str = TENANTS[0]
    role: str = "ingest"

    def head(self) -> bytes:
        """Return the head of the request."""
        lines = [
            f"POST {self.path} HTTP/1.1", "Host: localhost",
            f"Authorization: Bearer {self.role}-{self.tenant}",
            f"Content-Type: {self.content_type}",
            f"Content-Length: {self.length}" if self.length else "Transfer-Encoding: chunked",
            *([f"Content-Encoding: {self.encoding}"] if self.encoding else []),
        ]  # fmt: skip
        return "\r\n".join([*lines, "", ""]).encode()


def whole(path: str, body: bytes, **fields: object) -> Sending:
    """Return a request whose body is known, with its length."""
    return Sending(path, lambda: sliced(body), length=len(body), **fields)  # type: ignore[arg-type]


def sliced(body: bytes) -> Iterator[bytes]:
    """Yield a body in pieces."""
    for start in range(0, len(body), PIECE):
        yield body[start : start + PIECE]


def chunked(path: str, pieces: Callable[[], Iterable[bytes]], **fields: object) -> Sending:
    """Return a request without Content-Length."""
    return Sending(path, pieces, **fields)  # type: ignore[arg-type]


def repeated(piece: bytes, size: int, first: bytes = b"", last: bytes = b"") -> Iterator[bytes]:
    """Yield a piece up to a number of bytes."""
    block = piece * max(1, PIECE // len(piece))
    yield first
    for _ in range(size // len(block)):
        yield block
    yield last


def batch(answers: int, size: int, text: str = "x") -> bytes:
    """Return a batch of answers, each of the same number of characters."""
    responses = [{"id": f"{n}-{random.getrandbits(60)}", "text": text * (size // len(text))}
                 for n in range(answers)]  # fmt: skip
    return json.dumps({"source": "support", "responses": responses}, ensure_ascii=False).encode()


def delimited(tag: int, content: bytes) -> bytes:
    """Return a field of protobuf."""
    length, size = len(content), b""
    while length > 0x7F:
        size += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([tag]) + size + bytes([length]) + content


def _thousand_spans() -> list[Signal]:
    text = [{"role": "assistant", "parts": [{"type": "text", "content": "It arrives. 😀 " * 200}]}]
    attributes = {"gen_ai.output.messages": json.dumps(text)}
    at_ns = time.time_ns()
    return [make_span(n, at_ns=at_ns, attributes=attributes) for n in range(1000)]


def spans(size: int) -> bytes:
    """Return a valid request of about this size."""
    block = protobuf_of(_thousand_spans())
    return block * (size // len(block))


def spans_as_json(size: int) -> bytes:
    """Return a valid request of about this size in OTLP's JSON."""
    resources = json_of(_thousand_spans())["resourceSpans"]
    times = size // len(json.dumps(resources))
    return json.dumps({"resourceSpans": resources * times}).encode()


@dataclass
class GatewayUnderTest:
    """The gateway under attack."""

    port: int
    pid: int
    run_id: str
    bus_url: str
    statuses: Counter[str] = field(default_factory=Counter)

    def peak_mib(self) -> int:
        """Return the largest resident memory since the last reset."""
        return int(memory_mib(self.pid))

    def reset_peak(self) -> None:
        """Begin to count the peak anew."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    async def purge(self) -> None:
        """Remove the answers that wait, so that the next line is not refused for them."""
        await purge_exchanges(self.bus_url)
        await asyncio.sleep(SETTLE_S)

    async def send(self, sending: Sending) -> None:
        """Send a request, and count the status of its response."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                self.statuses[await self._status(sending)] += 1
        except TimeoutError:
            self.statuses["no response"] += 1

    async def _status(self, sending: Sending) -> str:
        reader, writer = await asyncio.open_connection(HOST, self.port)
        answered = asyncio.create_task(reader.readline())
        try:
            writer.write(sending.head())
            with suppress(ConnectionError):
                for piece in sending.pieces():
                    if answered.done():
                        break
                    if piece:
                        framed = b"%x\r\n%s\r\n" % (len(piece), piece)
                        writer.write(framed if sending.length is None else piece)
                    await writer.drain()
                if sending.length is None and not answered.done():
                    writer.write(b"0\r\n\r\n")
                    await writer.drain()
            if sending.leaves:
                return "left"
            with suppress(ConnectionError):
                if line := await answered:
                    return line.split()[1].decode()
            return "reset"
        finally:
            answered.cancel()
            writer.close()

    async def send_all(self, sendings: Iterable[Sending]) -> None:
        """Send several at the same time."""
        await asyncio.gather(*map(self.send, sendings))

    async def hold(self, connections: int, sent: bytes, seconds: float) -> None:
        """Open connections that send something and then nothing more."""
        held = []
        for _ in range(connections):
            try:
                _, writer = await asyncio.open_connection(HOST, self.port)
            except OSError:
                self.statuses["refused"] += 1
                continue
            writer.write(sent)
            held.append(writer)
        await asyncio.sleep(seconds)
        await self.ask_legitimately("/v1/runs", "read")
        for writer in held:
            writer.close()

    async def ask_legitimately(self, path: str, role: str) -> None:
        """Ask as an honest client of the other tenant does; note the duration."""
        began = time.monotonic()
        async with httpx2.AsyncClient(timeout=TIMEOUT_S) as client:
            headers = {"Authorization": f"Bearer {role}-{TENANTS[1]}"}
            address = f"http://{HOST}:{self.port}{path}"
            if role == "read":
                reply = await client.get(address, headers=headers)
            else:
                body = protobuf_of([make_span(1, at_ns=time.time_ns())])
                reply = await client.post(
                    address, content=body, headers={**headers, "Content-Type": PROTOBUF}
                )
        self.statuses[f"other tenant {reply.status_code} in {time.monotonic() - began:.1f} s"] += 1


Attack = Callable[[GatewayUnderTest], Awaitable[None]]


def of(*sendings: Sending) -> Attack:
    """Return the attack of sending these at the same time."""
    return lambda target: target.send_all(sendings)


async def with_other_tenant(target: GatewayUnderTest, *sendings: Sending) -> None:
    """Send these while the other tenant sends a span."""
    attack = asyncio.create_task(target.send_all(sendings))
    await asyncio.sleep(0.2)
    await target.ask_legitimately("/v1/traces", "ingest")
    await attack


async def followers(target: GatewayUnderTest) -> None:
    """Follow a run by 500 clients."""
    head = (
        f"GET /v1/runs/{target.run_id}/events HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer read-{TENANTS[0]}\r\n\r\n"
    )
    await target.hold(500, head.encode(), 5)


def both(make: Callable[[str], Sending], times: int) -> Attack:
    """Return the attack of both tenants sending as often."""
    return of(*(make(TENANTS[n % 2]) for n in range(times)))


def attacks() -> dict[str, Attack]:
    """Return each line of the table."""
    tiny_bomb = gzip.compress(b"\x0a\x00" * 30_000_000, 6)
    zeros = gzip.compress(bytes(256 * MIB), 6)
    probe = json.dumps({"key": "k", "prompt": "x" * 1_900_000, "groups": {"a": "b"}}).encode()
    probe += b","
    lists = b"[" + b"[1]," * 1_000_000 + b"1]"
    deflated = zlib.compress(bytes(64 * MIB), 1)
    garbage = random.Random(1).randbytes(60 * MIB)
    empties = delimited(10, delimited(18, b"\x12\x00" * (30 * MIB)))
    events = b"".join(
        delimited(10, delimited(18, delimited(18, b"\x5a\x00" * 30_000))) for _ in range(1000)
    )
    traces, answers = "/v1/traces", "/v1/responses"
    valid, valid_json = spans(60 * MIB), spans_as_json(60 * MIB)
    packed = gzip.compress(valid, 1)
    return {
        "idle": lambda target: asyncio.sleep(1),
        "a batch of 1,000 x 60 KB (allowed)": of(whole(answers, batch(1000, 60_000))),
        "the same with a 4-byte character, both tenants, twice": both(
            lambda tenant: whole(answers, batch(1000, 30_000, "x" * 99 + "😀"), tenant=tenant), 4
        ),
        "a batch of 140 x 440 KB (allowed)": of(whole(answers, batch(140, 440_000))),
        "a batch of 1,000 x 100 KB": of(whole(answers, batch(1000, 100_000))),
        "1,000 x 400 KB, chunked": of(
            chunked(answers, lambda: sliced(batch(1000, 400_000)))
        ),
        "400 MB of [1],": of(chunked(answers, lambda: repeated(b"[1],", 400_000_000, b"["))),
        "4 x 60 MB of responses: [[1],": both(
            lambda tenant: chunked(
                answers, lambda: repeated(b"[1],", 60_000_000, b'{"responses":[['), tenant=tenant
            ), 4,
        ),
        "4 x 60 MB of responses: {},": both(
            lambda tenant: chunked(
                answers, lambda: repeated(b"{},", 60_000_000, b'{"responses":['), tenant=tenant
            ), 4,
        ),
        "60 MB of [ in a response": of(
            chunked(answers, lambda: repeated(b"[", 60_000_000, b'{"responses":[{"a":'))
        ),
        "16 x 4 MB of [1], to another route": both(
            lambda tenant: whole("/v1/runs", lists, tenant=tenant, role="run"), 16
        ),
        "4 suites of 40 probes of 1.9 MB": both(
            lambda tenant: chunked(
                "/v1/suites",
                lambda: repeated(probe, 80_000_000, b'{"name":"x","probes":[', b"{}]}"),
                tenant=tenant, role="run",
            ), 4,
        ),
        "8 x 60 MB OTLP garbage": both(
            lambda tenant: whole(traces, garbage, content_type=PROTOBUF, tenant=tenant), 8
        ),
        "8 gzip bombs": both(
            lambda tenant: whole(
                traces, zeros, content_type=PROTOBUF, encoding="gzip", tenant=tenant
            ), 8,
        ),
        "8 deflate bombs": both(
            lambda tenant: whole(
                traces, deflated, content_type=PROTOBUF, encoding="deflate",
                tenant=tenant,
            ), 8,
        ),
        "one 60 MB OTLP of empty spans": of(whole(traces, empties, content_type=PROTOBUF)),
        "4 x 60 MB OTLP of empty events": both(
            lambda tenant: whole(traces, events, content_type=PROTOBUF, tenant=tenant), 4
        ),
        "two 58 KB gzip OTLP": lambda target: with_other_tenant(
            target,
            *[whole(traces, tiny_bomb, content_type=PROTOBUF, encoding="gzip", leaves=True)] * 2,
        ),
        "4 x 60 MB OTLP of spans (allowed)": both(
            lambda tenant: whole(traces, valid, content_type=PROTOBUF, tenant=tenant), 4
        ),
        "4 of the same, gzip, chunked": both(
            lambda tenant: chunked(
                traces, lambda: sliced(packed), content_type=PROTOBUF, encoding="gzip",
                tenant=tenant,
            ), 4,
        ),
        "4 x 60 MB OTLP of spans in JSON (allowed)": both(
            lambda tenant: whole(traces, valid_json, tenant=tenant), 4
        ),
        "4 x 60 MB OTLP in JSON: {},": both(
            lambda tenant: chunked(
                traces,
                lambda: repeated(
                    b"{},", 60_000_000, b'{"resourceSpans":[{"scopeSpans":[{"spans":['
                ),
                tenant=tenant,
            ), 4,
        ),
        "4 x 60 MB OTLP in JSON: one span of [1],": both(
            lambda tenant: chunked(
                traces,
                lambda: repeated(
                    b"[1],", 60_000_000, b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"a":['
                ),
                tenant=tenant,
            ), 4,
        ),
        "4,000 half headers": lambda target: target.hold(4000, b"GET / HTTP/1.1\r\nX: ", 3),
        "4,000 slow bodies": lambda target: target.hold(
            4000, b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n{", 3
        ),
        "500 SSE": followers,
    }  # fmt: skip


@asynccontextmanager
async def gateway(folder: Path) -> AsyncIterator[GatewayUnderTest]:
    """Run the gateway as a process while the context lasts."""
    store_url = f"sqlite:///{folder / 'store.db'}"
    migrate(store_url)
    run = make_run(tenant=TENANTS[0])
    with Store.open(store_url) as store:
        for tenant in TENANTS:
            store.records.write([make_traffic_monitor(at=datetime.now(UTC), tenant=tenant)])
        store.records.write([run])
    entries = [
        {"name": f"{role} {tenant}", "tenant": tenant, "role": role,
         "verifier": verifier_of(f"{role}-{tenant}")}
        for tenant in TENANTS for role in ("ingest", "read", "run")
    ]  # fmt: skip
    (folder / "tokens.yaml").write_text(yaml.safe_dump({"tokens": entries}))
    port, health = free_port(HOST), free_port(HOST)
    with EmbeddedServer(folder / "nats") as bus:
        await asyncio.to_thread(provision_bus, bus.url)
        settings = {
            "NATS_URL": bus.url,
            "BIASWATCH_STORE_URL": store_url,
            "BIASWATCH_STATE_DIR": str(folder),
            "BIASWATCH_GATEWAY_PORT": str(port),
            "BIASWATCH_GATEWAY_TOKENS_FILE": str(folder / "tokens.yaml"),
            "BIASWATCH_HEALTH_PORT": str(health),
        }
        with running(service_modules(["gateway"]), settings) as pids:
            await _wait_for(port)
            yield GatewayUnderTest(port, pids["gateway"], run.id, bus.url)


async def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(httpx2.HTTPError):
            async with httpx2.AsyncClient() as client:
                await client.get(f"http://{HOST}:{port}/login")
                return
        await asyncio.sleep(0.2)
    raise SystemExit("The gateway does not answer.")


async def measure(words: list[str]) -> int:
    """Print the table; return how many lines reach the bar."""
    over = 0
    chosen = {
        name: attack
        for name, attack in attacks().items()
        if not words or any(word.lower() in name.lower() for word in words)
    }
    with tempfile.TemporaryDirectory() as folder:
        async with gateway(Path(folder)) as target:
            for name, attack in chosen.items():
                target.reset_peak()
                target.statuses.clear()
                began = time.monotonic()
                await attack(target)
                duration_s = time.monotonic() - began
                await asyncio.sleep(SETTLE_S)
                await target.purge()
                peak = target.peak_mib()
                over += peak >= BAR_MIB
                outcome = ", ".join(f"{times} x {what}" for what, times in target.statuses.items())
                print(f"{peak:>6} MiB  {duration_s:>5.1f} s  {name}: {outcome}", flush=True)
    print(f"{over} of {len(chosen)} lines reach {BAR_MIB} MiB.")
    return over


def main() -> int:
    """Measure; 1 where a line reaches the bar."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return int(asyncio.run(measure(sys.argv[1:])) > 0)


if __name__ == "__main__":
    sys.exit(main())
