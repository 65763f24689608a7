"""JetStream's atomic batches against our bundles: CPU per record of client and server.

Three ways to publish the same records alternate within one run: each record in a message, 64
messages in an atomic batch (`allow_atomic`), and 64 records in a bundle. The bar of atomic
batches: less CPU than bundles.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import nats
from nats.aio.client import Client

from benchmarks.measuring import process_cpu_s
from biaswatch.shared.bus.bundles import Bundle
from biaswatch.shared.bus.server import EmbeddedServer

RECORDS, TOGETHER, ROUNDS = 6_400, 64, 5
TEXT = "It left our house on Monday and should be with you by Thursday. " * 11
STREAM, SUBJECT = "BATCHES", "batches.record"
Records = Sequence[tuple[str, bytes]]


def parts(records: Records) -> Iterator[Records]:
    """Yield the records in their order, 64 at a time."""
    return (records[first : first + TOGETHER] for first in range(0, len(records), TOGETHER))


async def publish_alone(client: Client, records: Records) -> None:
    """Publish each record in a message, 64 at once."""
    for part in parts(records):
        requests = (
            client.request(SUBJECT, data, headers={"Nats-Msg-Id": name}, timeout=30)
            for name, data in part
        )
        for reply in await asyncio.gather(*requests):
            _check(reply.data)


async def publish_atomically(client: Client, records: Records) -> None:
    """Publish 64 messages as an atomic batch; only the last has a reply."""
    for part in parts(records):
        batch = part[0][0]
        for number, (name, data) in enumerate(part, start=1):
            headers = {
                "Nats-Msg-Id": name, "Nats-Batch-Id": batch, "Nats-Batch-Sequence": str(number),
            }  # fmt: skip
            if number < len(part):
                await client.publish(SUBJECT, data, headers=headers)
            else:
                headers["Nats-Batch-Commit"] = "1"
                reply = await client.request(SUBJECT, data, headers=headers, timeout=30)
                assert _check(reply.data)["count"] == len(part)


async def publish_bundled(client: Client, records: Records) -> None:
    """Publish 64 records in one message, as services do."""
    for part in parts(records):
        bundle = Bundle()
        for name, data in part:
            bundle.add(name, data, 0)
        reply = await client.request(SUBJECT, bundle.data(), headers=bundle.headers(), timeout=30)
        _check(reply.data)


def _check(reply: bytes) -> dict[str, int]:
    answer: dict[str, int] = json.loads(reply)
    if "error" in answer:
        raise SystemExit(f"The bus refuses: {answer['error']}")
    return answer


WAYS: dict[str, Callable[[Client, Records], Awaitable[None]]] = {
    "alone": publish_alone, "atomic batch": publish_atomically, "bundle": publish_bundled,
}  # fmt: skip


async def main() -> int:
    """Print the CPU per record; 1 where an atomic batch is cheaper than a bundle."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(Path(folder)) as server:
        client = await nats.connect(server.url)
        config = {
            "name": STREAM, "subjects": [SUBJECT], "storage": "file", "allow_atomic": True,
            "num_replicas": 1, "retention": "limits",
        }  # fmt: skip
        reply = await client.request(f"$JS.API.STREAM.CREATE.{STREAM}", json.dumps(config).encode())
        _check(reply.data)
        costs: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
        for number in range(ROUNDS + 1):
            for way, publish in WAYS.items():
                name = f"{publish.__name__}-{number}"
                records = [(f"{name}-{n}", TEXT.encode()) for n in range(RECORDS)]
                own, of_server = time.process_time(), process_cpu_s(server.pid)
                await publish(client, records)
                if number:  # the first round warms up
                    costs[way].append(
                        (time.process_time() - own, process_cpu_s(server.pid) - of_server)
                    )
        await client.close()
    sums = {}
    for way, rounds in costs.items():
        client_us, server_us = (median(part) / RECORDS * 1e6 for part in zip(*rounds, strict=True))
        sums[way] = client_us + server_us
        print(f"{way:13} client {client_us:5.1f} us, server {server_us:5.1f} us a record")
    ratio = sums["atomic batch"] / sums["bundle"]
    print(f"an atomic batch costs {ratio:.1f} times the CPU of a bundle (kept only below 1)")
    return int(ratio < 1)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
