"""One hop on the bus: our worker against raw nats-py, in the same run, on the same server.

Raw is what a careful engineer writes with nats-py alone: fetch 256, validate, 64 publishes at
once, plain acknowledgements. Both read records of about 1 KB, decode them, publish one record for
each and acknowledge. The bar is 90 % of raw, with one record in every message, as raw has it;
beside it stands what services do, which publish features that are there at the same time together.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median

import nats

from biaswatch.shared.bus.jetstream import (
    Admin,
    Connection,
    JetStreamConsumer,
    JetStreamPublisher,
    provision,
)
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import durable_of
from biaswatch.shared.bus.worker import Worker
from biaswatch.shared.contracts import (
    Ending,
    Features,
    Message,
    Probe,
    Response,
    Target,
    subject_of,
)
from biaswatch.shared.contracts.partitions import partition_of

RECORDS = 10_000
ROUNDS = 5
AT = datetime(2026, 1, 1, tzinfo=UTC)
BAR = 0.90
RAW, ALONE, TOGETHER = "raw nats-py", "our worker", "bundled"


def response(number: int) -> Response:
    """Make one response of about 1 KB."""
    probe = Probe(
        at=AT,
        run_id="0" * 32,
        key=f"probe-{number}",
        target=Target(name="replay:answers", provider="replay", model="answers"),
        unit_id=f"prompt-{number}",
        messages=(Message(role="user", content="Tell me about this country. " * 6),),
    )
    return Response(at=AT, probe=probe, ending=Ending.ANSWERED, text="It has a coast. " * 12)


def features_of(read: Response) -> Features:
    """Return a trivial measurement, so that the benchmark times the hop alone."""
    return Features(
        at=AT,
        run_id=read.probe.run_id,
        probe_id="1" * 32,
        response_id="2" * 32,
        unit_id=read.probe.unit_id,
        extractor="length",
        extractor_version=read.probe.key,
        values={"characters": float(len(read.text or ""))},
    )


async def with_nats_py(url: str, stage: Stage[Response]) -> None:
    """Do the hop with the client alone."""
    client = await nats.connect(url)
    stream = client.jetstream()
    durable = durable_of(stage).partitions[partition_of(response(0).tenant)]
    pull = await stream.pull_subscribe_bind(durable.name, durable.stream)
    done = 0
    while done < RECORDS:
        messages = await pull.fetch(256, timeout=2)
        outputs = [features_of(Response.model_validate_json(m.data)) for m in messages]
        for start in range(0, len(outputs), 64):
            await asyncio.gather(
                *(
                    stream.publish(
                        subject_of(output),
                        output.encode(),
                        headers={"Nats-Msg-Id": f"{output.id}/0"},
                    )
                    for output in outputs[start : start + 64]
                )
            )
        for message in messages:
            await message.ack()
        done += len(messages)
    await client.close()


async def with_worker(url: str, stage: Stage[Response], *, bundled: bool = False) -> None:
    """Do the hop with the worker."""
    connection = await Connection.open(url, name="bench")
    consumer = JetStreamConsumer(connection, durable_of(stage), stage.capacity)
    publisher = JetStreamPublisher(connection, bundled=bundled)
    settled = asyncio.Event()
    count = 0

    async def handle(read: Response) -> list[Features]:
        nonlocal count
        count += 1
        if count == RECORDS:
            settled.set()
        return [features_of(read)]

    counted = Stage(stage.service, Response, handle, slots=stage.slots)
    worker = Worker(counted, consumer, publisher, jitter=random.random, clock=time.time)
    running = asyncio.create_task(worker.run())
    await settled.wait()
    await worker.stop()
    await running
    await connection.close()


Hop = Callable[[str, Stage[Response]], Awaitable[None]]


async def timed(hop: Hop) -> tuple[float, float]:
    """Do the hop on a new bus; return records per second and CPU microseconds per record."""
    with tempfile.TemporaryDirectory() as directory, EmbeddedServer(Path(directory)) as server:
        stage: Stage[Response] = Stage("extractor", Response, lambda _: [], slots=256)
        await fill(server.url)
        wall, cpu = time.perf_counter(), time.process_time()
        await hop(server.url, stage)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return RECORDS / wall, cpu / RECORDS * 1e6


async def fill(url: str) -> None:
    """Provision the bus and put the records on it."""
    connection = await Connection.open(url, name="filler")
    await provision(Admin(connection))
    publisher = JetStreamPublisher(connection, bundled=False)  # raw reads one of each
    for start in range(0, RECORDS, 256):
        numbers = range(start, min(start + 256, RECORDS))
        await asyncio.gather(*(publisher.publish(response(number)) for number in numbers))
    await connection.close()


async def main() -> int:
    """Measure, alternating, and print medians and their ratio."""
    hops: dict[str, Hop] = {
        RAW: with_nats_py, ALONE: with_worker, TOGETHER: partial(with_worker, bundled=True),
    }  # fmt: skip
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in hops}
    for _ in range(ROUNDS):
        for name, hop in hops.items():
            results[name].append(await timed(hop))
    print(
        f"One hop, {len(response(0).encode())} byte records, {RECORDS:,} a round, {ROUNDS} rounds:"
    )
    costs = {}
    for name, rounds in results.items():
        rate = median(rate for rate, _ in rounds)
        costs[name] = median(cpu for _, cpu in rounds)
        print(f"  {name:12} {rate:9,.0f} records/s   {costs[name]:6.1f} us CPU a record")
    ratio = costs[RAW] / costs[ALONE]
    print(
        f"  records for the same CPU: {ratio:.2f} of raw, {costs[RAW] / costs[TOGETHER]:.2f}"
        f" bundled   (bar: {BAR:.2f})"
    )
    return 0 if ratio >= BAR else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
