"""CPU cost of production answers over HTTP, against a bare endpoint.

The bare endpoint uses FastAPI and nats-py alone: it validates, publishes each answer, and replies
202 once the stream has all. The gateway also authenticates, limits bodies, finds the monitors,
redacts and reports late answers. Both are processes with the same server, loop and parser of HTTP.
The bars: 2 times the bare endpoint for a POST of one answer, 1.5 times for 500.
"""

import asyncio
import os
import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.measuring import (
    HOST,
    process_cpu_s,
    provision_bus,
    purge_exchanges,
    running,
    wait_until,
)
from biaswatch.services.gateway.app import WATCHERS_TTL_S, web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.bus.jetstream import Connection, JetStreamPublisher
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.requests.traffic import SentBatch
from biaswatch.shared.runtime.process import run
from biaswatch.shared.runtime.web import free_port, web_server
from biaswatch.shared.store import Store, migrate
from tests.support.records import make_traffic_monitor

ROUNDS, AT_ONCE = 3, 8
POSTS = {"one": (300, 1), "500": (6, 500)}
"""The number of POSTs, and the answers of each."""
WORDS = "It left our house on Monday and should be with you by Thursday at the latest. " * 8
BARS = {"one": 2.0, "500": 1.5}


async def serve_bare(url: str, port: int) -> None:
    """Serve the bare endpoint forever."""
    import nats
    from fastapi import FastAPI

    client = await nats.connect(url)
    stream, app = client.jetstream(), FastAPI()

    @app.post("/v1/responses", status_code=202)
    async def take(sent: SentBatch) -> dict[str, int]:
        subject = f"bias.v1.exchange.default.production.{sent.source}"
        await asyncio.gather(
            *(stream.publish(subject, a.model_dump_json().encode()) for a in sent.responses)
        )
        return {"accepted": len(sent.responses)}

    async with web_server(app, HOST, port):
        await asyncio.Event().wait()


async def serve_ours(url: str, port: int, store_url: str) -> None:
    """Serve the gateway's routes forever, without the stage that reads the bus."""
    connection = await Connection.open(url, name="gateway")
    with Store.open(store_url) as store:
        app = web_app(
            GatewaySettings(store_url=store_url),
            store,
            JetStreamPublisher(connection),
            watchers_ttl_s=WATCHERS_TTL_S,
        )
        async with web_server(app, HOST, port):
            await asyncio.Event().wait()


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
    slots, before = asyncio.Semaphore(AT_ONCE), process_cpu_s(pid)
    async with httpx2.AsyncClient(timeout=60) as client:

        async def post(number: int) -> None:
            async with slots:
                reply = await client.post(address, json=body(first + number * answers, answers))
            if reply.status_code != 202:
                raise SystemExit(f"{reply.status_code}: {reply.text[:300]}")

        await asyncio.gather(*(post(number) for number in range(posts)))
    return (process_cpu_s(pid) - before) / posts / answers * 1e6


def measure(folder: Path) -> dict[str, dict[str, float]]:
    """Return the least cost of an answer over the rounds, by size of the POST and server."""
    store_url = f"sqlite:///{folder / 'store.db'}"
    migrate(store_url)
    with Store.open(store_url) as store:
        store.records.write([make_traffic_monitor(at=datetime.now(UTC))])
    least: dict[str, dict[str, float]] = {name: {} for name in POSTS}
    with EmbeddedServer(folder / "nats") as bus, ExitStack() as stack:
        provision_bus(bus.url)
        servers = {}
        for name in ("bare", "ours"):
            port = free_port(HOST)
            settings = {"BENCH_SERVER": f"{name} {bus.url} {port} {store_url}"}
            pids = stack.enter_context(running({name: "benchmarks.posts"}, settings))
            address = f"http://{HOST}:{port}/v1/responses"
            wait_until(partial(responds, address))
            servers[name] = (address, pids[name])
        for round_ in range(ROUNDS):
            for name, (address, pid) in servers.items():
                for size, (posts, answers) in POSTS.items():
                    cost = asyncio.run(cost_us(address, pid, posts, answers, round_ * 10**6))
                    least[size][name] = min(cost, least[size].get(name, cost))
                    asyncio.run(purge_exchanges(bus.url))
    return least


def responds(address: str) -> bool:
    """Return whether a server answers."""
    try:
        httpx2.get(address)
    except httpx2.HTTPError:
        return False
    return True


def main() -> int:
    """Measure and print, or serve one of the two; 1 where a bar is missed."""
    if server := os.environ.get("BENCH_SERVER"):  # noqa: TID251 - a child of this benchmark
        name, url, port, store_url = server.split(" ")
        ours = name == "ours"
        run(serve_ours(url, int(port), store_url) if ours else serve_bare(url, int(port)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        least = measure(Path(folder))
    missed = 0
    for size, bar in BARS.items():
        bare, ours_us = least[size]["bare"], least[size]["ours"]
        print(f"A POST of {size}: {ours_us:6.0f} us CPU an answer, bare {bare:6.0f} us:", end=" ")
        print(f"{ours_us / bare:.2f} times (bar {bar:g})")
        missed += ours_us / bare > bar
    return missed


if __name__ == "__main__":
    sys.exit(main())
