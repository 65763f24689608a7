"""What taking in production answers over HTTP costs, beside a bare endpoint that does nothing else.

Bare is what a careful engineer writes in an hour with FastAPI and nats-py alone: validate, publish
each answer, answer 202 once the stream has all. Ours also asks who sends, limits bodies, looks who
watches, redacts, and says what comes too late. Each is a process of its own, on the same server,
loop and parser of HTTP; its CPU time is what the system counts for it. The bars: a POST of one
answer within 2 times of bare, of 500 within 1.5.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.pipeline import cpu_s
from biaswatch.services.gateway.app import WATCHERS_S, web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.requests.traffic import SentBatch
from biaswatch.shared.runtime.process import run
from biaswatch.shared.runtime.web import free_port, web_server
from biaswatch.shared.store import Store, migrate
from tests.support.records import make_traffic_monitor

HERE = "127.0.0.1"
ROUNDS, AT_ONCE = 3, 8
SINGLE, BATCHES, BATCH = 300, 6, 500
WORDS = "It left our house on Monday and should be with you by Thursday at the latest. " * 8
BAR_SINGLE, BAR_BATCH = 2.0, 1.5


async def serve_bare(url: str, port: int) -> None:
    """Serve the bare endpoint, for ever."""
    import nats
    from fastapi import FastAPI

    client = await nats.connect(url)
    stream, app = client.jetstream(), FastAPI()

    @app.post("/v1/responses", status_code=202)
    async def take(sent: SentBatch) -> dict[str, int]:
        subject = f"bias.v1.exchange.default.production.{sent.source}"
        await asyncio.gather(
            *(stream.publish(subject, each.model_dump_json().encode()) for each in sent.responses)
        )
        return {"accepted": len(sent.responses)}

    async with web_server(app, HERE, port):
        await asyncio.Event().wait()


async def serve_ours(url: str, port: int, store_url: str) -> None:
    """Serve the gateway's routes, for ever, without the stage behind them."""
    connection = await Connection.open(url, name="gateway")
    with Store.open(store_url) as store:
        app = web_app(
            GatewaySettings(store_url=store_url),
            store,
            JetStreamPublisher(connection),
            watchers_s=WATCHERS_S,
        )
        async with web_server(app, HERE, port):
            await asyncio.Event().wait()


@contextmanager
def server(which: str, url: str, store_url: str) -> Iterator[tuple[str, int]]:
    """Start one of the two as a process; return its address and the process."""
    port = free_port(HERE)
    words = [sys.executable, "-m", "benchmarks.posts", "--serve", which, url, str(port), store_url]
    process = subprocess.Popen(words, env={**os.environ})  # noqa: TID251 - handed on
    address = f"http://{HERE}:{port}/v1/responses"
    try:
        _wait_for(address)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait()


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            httpx2.get(address)
        except httpx2.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"{address} does not answer.")


def body(first: int, answers: int) -> dict[str, Any]:
    """Make a batch."""
    sent = [
        {"id": str(n), "text": WORDS, "prompt": "Where is it?", "unit": f"u{n % 900}",
         "groups": {"gender": "female" if n % 2 else "male"}}
        for n in range(first, first + answers)
    ]  # fmt: skip
    return {"source": "support", "responses": sent}


async def cost_us(address: str, pid: int, posts: int, answers: int, first: int) -> float:
    """Send posts, some at once; return the server's CPU time for each answer."""
    slots, before = asyncio.Semaphore(AT_ONCE), cpu_s(pid)
    async with httpx2.AsyncClient(timeout=60) as client:

        async def post(number: int) -> None:
            async with slots:
                reply = await client.post(address, json=body(first + number * answers, answers))
            if reply.status_code != 202:
                raise SystemExit(f"{reply.status_code}: {reply.text[:300]}")

        await asyncio.gather(*(post(number) for number in range(posts)))
    return (cpu_s(pid) - before) / posts / answers * 1e6


async def _prepare(url: str) -> None:
    connection = await Connection.open(url, name="bench")
    await provision(Admin(connection))
    await connection.close()


async def _purge(url: str) -> None:
    connection = await Connection.open(url, name="bench")
    await Admin(connection)._api("STREAM.PURGE.EXCHANGES")  # noqa: SLF001 - nobody reads here
    await connection.close()


def measure(folder: Path) -> dict[str, dict[str, float]]:
    """Return the least cost of an answer over the rounds, by what is sent and who takes it."""
    store_url = f"sqlite:///{folder / 'store.db'}"
    migrate(store_url)
    with Store.open(store_url) as store:
        store.records.write([make_traffic_monitor(at=datetime.now(UTC))])
    least: dict[str, dict[str, float]] = {"one": {}, "500": {}}
    with EmbeddedServer(folder / "nats") as bus:
        asyncio.run(_prepare(bus.url))
        with server("bare", bus.url, store_url) as bare, server("ours", bus.url, store_url) as ours:
            for round_ in range(ROUNDS):
                for name, (address, pid) in (("bare", bare), ("ours", ours)):
                    for what, posts, answers in (("one", SINGLE, 1), ("500", BATCHES, BATCH)):
                        cost = asyncio.run(cost_us(address, pid, posts, answers, round_ * 10**6))
                        least[what][name] = min(cost, least[what].get(name, cost))
                        asyncio.run(_purge(bus.url))
    return least


def main() -> int:
    """Measure and print, or serve one of the two; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", nargs=4, metavar=("WHICH", "URL", "PORT", "STORE"))
    given = parser.parse_args().serve
    if given:
        which, url, port, store = given
        ours = which == "ours"
        run(serve_ours(url, int(port), store) if ours else serve_bare(url, int(port)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        least = measure(Path(folder))
    missed = 0
    for what, bar in (("one", BAR_SINGLE), ("500", BAR_BATCH)):
        bare, ours = least[what]["bare"], least[what]["ours"]
        print(f"A POST of {what}: {ours:6.0f} us CPU an answer, bare {bare:6.0f} us:", end=" ")
        print(f"{ours / bare:.2f} times (bar {bar:g})")
        missed += ours / bare > bar
    return missed


if __name__ == "__main__":
    sys.exit(main())
