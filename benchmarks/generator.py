"""Calls a second through the whole generator, against a bare loop over the official SDK.

Steady: 200 calls in flight to a simulator with 1 s of latency, the limit pinned at 200, the starts
spread over the first second. The ideal is 200 a second, and the bar 90 % of it.

Storm: a simulator that accepts 50 calls a second and answers 429 to the rest, with a limit that
adapts from 20. The bar is 90 % of the 50 after a ramp, and an answer to every probe.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import openai

from benchmarks.measuring import HOST, process_cpu_s, running, service_modules
from biaswatch.shared.bus.bundles import records_in
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import (
    Ending,
    Message,
    Probe,
    Response,
    Role,
    Run,
    parse_target,
    route_of,
)
from biaswatch.shared.runtime.web import free_port
from biaswatch.shared.store import migrate

IN_FLIGHT = 200
LATENCY_S = 1.0
WARM_S = 6.0
WINDOW_S = 20.0
LIMIT_PER_S = 50
RAMP_S = 10.0
IMPORTS_S = 3.0
BAR = 0.9
PLANTS = {
    "slow": {"faults": {"latency_s": LATENCY_S}},
    "limited": {"faults": {"latency_s": LATENCY_S, "most_per_s": LIMIT_PER_S}},
}
PROMPT = "Here is applicant {n}, with some years in the trade. Rate the applicant from 1 to 4."


async def bare_loop(url: str) -> tuple[float, float]:
    """Keep 200 calls in flight with the SDK alone; return calls a second and CPU ms a call."""
    client = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0)
    ended: list[tuple[float, float]] = []
    stop = time.monotonic() + WARM_S + WINDOW_S

    async def one(number: int) -> None:
        await asyncio.sleep(number * LATENCY_S / IN_FLIGHT)
        while time.monotonic() < stop:
            prompt = PROMPT.format(n=number)
            await client.chat.completions.create(
                model="slow", messages=[{"role": "user", "content": prompt}]
            )
            ended.append((time.monotonic(), time.process_time()))

    await asyncio.gather(*(one(n) for n in range(IN_FLIGHT)))
    await client.close()
    window = [(at, cpu) for at, cpu in ended if stop - WINDOW_S <= at < stop]
    return len(window) / WINDOW_S, (window[-1][1] - window[0][1]) / len(window) * 1000


def probes_for(model: str, number: int) -> list[Probe]:
    """Make the probes of a run."""
    at = datetime.now(UTC)
    run = Run(at=at, suite="bench", suite_hash="a" * 32, targets=(), nonce=model)
    target = parse_target(f"simulator:{model}")
    return [
        Probe(
            at=at,
            run_id=run.id,
            key=f"p{n}",
            unit_id=f"p{n}",
            target=target,
            messages=(Message(role=Role.USER, content=PROMPT.format(n=n)),),
        )
        for n in range(number)
    ]


class Bench:
    """A generator on a bus of its own."""

    def __init__(self, connection: Connection, pid: int) -> None:
        self._pid = pid
        self.admin = Admin(connection)
        self._publisher = JetStreamPublisher(connection)

    async def ask(self, probes: list[Probe], *, spread: int) -> None:
        """Publish probes, the first ones over a second, so that their answers are spread too."""
        for probe in probes[:spread]:
            await self._publisher.publish(probe)
            await asyncio.sleep(LATENCY_S / spread * 0.8)
        for start in range(spread, len(probes), 256):
            batch = probes[start : start + 256]
            await asyncio.gather(*(self._publisher.publish(probe) for probe in batch))

    async def answered(self) -> int:
        """Count the responses on the bus."""
        route = route_of(Response)
        return sum((await self.admin.subjects(route.stream, route.every_subject)).values())

    async def window(self) -> tuple[float, float]:
        """Observe the bus; return responses a second and CPU ms a response."""
        count, cpu = await self.answered(), process_cpu_s(self._pid)
        start = time.monotonic()
        await asyncio.sleep(WINDOW_S)
        count, seconds = await self.answered() - count, time.monotonic() - start
        return count / seconds, (process_cpu_s(self._pid) - cpu) / max(count, 1) * 1000

    async def first_answer(self) -> None:
        """Wait for the first response."""
        while not await self.answered():  # noqa: ASYNC110 - another process publishes it
            await asyncio.sleep(0.05)


@asynccontextmanager
async def generator(folder: Path, url: str, **settings: str) -> AsyncIterator[Bench]:
    """Run a generator on a new bus, with a simulator at this address."""
    store = f"sqlite:///{folder / 'store.db'}"
    migrate(store)
    with EmbeddedServer(folder / "nats") as server:
        environment = {
            "NATS_URL": server.url,
            "BIASWATCH_STORE_URL": store,
            "BIASWATCH_SIMULATOR_URL": url,
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_LOG_LEVEL": "ERROR",
            "BIASWATCH_GENERATOR_SLOTS": str(IN_FLIGHT),
            **settings,
        }
        with running(service_modules(["generator"]), environment) as pids:
            connection = await Connection.open(server.url, name="bench")
            await provision(Admin(connection))
            yield Bench(connection, pids["generator"])
            await connection.close()


async def steady(folder: Path, url: str) -> tuple[float, float]:
    """Measure the generator with its limit pinned."""
    async with generator(folder, url, BIASWATCH_GENERATOR_START=str(IN_FLIGHT)) as bench:
        await asyncio.sleep(IMPORTS_S)
        number = int((WARM_S + WINDOW_S + 4) * IN_FLIGHT / LATENCY_S)
        first, *rest = probes_for("slow", number)
        await bench.ask([first], spread=1)  # the lane is found before the starts are spread
        await bench.first_answer()
        await bench.ask(rest, spread=IN_FLIGHT)
        await asyncio.sleep(WARM_S - LATENCY_S)
        return await bench.window()


async def storm(folder: Path, url: str) -> tuple[float, int, int]:
    """Measure the generator under 429s; return its rate, the answered probes and all probes."""
    number = int((RAMP_S + WINDOW_S) * LIMIT_PER_S * 1.1)
    async with generator(folder, url) as bench:
        await bench.ask(probes_for("limited", number), spread=1)
        await bench.first_answer()
        await asyncio.sleep(RAMP_S)
        rate, _ = await bench.window()
        deadline = time.monotonic() + 60
        while await bench.answered() < number and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        return rate, await answered_probes(bench.admin), number


async def answered_probes(admin: Admin) -> int:
    """Count the probes with an answer, each once; failures do not count."""
    route, sequence, ids = route_of(Response), 0, set[str]()
    while message := await admin.next_message(route.stream, route.every_subject, sequence + 1):
        sequence = message.sequence
        responses = map(Response.decode, records_in(message.data, message.headers))
        ids |= {r.probe_id for r in responses if r.ending is Ending.ANSWERED}
    return len(ids)


async def measure(folder: Path) -> bool:
    """Measure and print; return whether every bar is met."""
    port = free_port(HOST)
    url = f"http://{HOST}:{port}/v1"
    environment = {
        "BIASWATCH_SIMULATOR_PORT": str(port),
        "BIASWATCH_SIMULATOR_PLANTS": json.dumps(PLANTS),
    }
    with running(service_modules(["simulator"]), environment):
        await asyncio.sleep(IMPORTS_S)
        bare, bare_cpu = await bare_loop(url)
        rate, cpu = await steady(folder / "steady", url)
        limited, answered, published = await storm(folder / "storm", url)
    ideal = IN_FLIGHT / LATENCY_S
    print(f"{IN_FLIGHT} calls in flight, {LATENCY_S:g} s latency, {WINDOW_S:g} s window:")
    for name, per_s, cost in (("bare SDK loop", bare, bare_cpu), ("generator", rate, cpu)):
        print(f"  {name:14} {per_s:6.1f}/s  {per_s / ideal:4.0%} of ideal  {cost:5.2f} ms a call")
    print(f"  bar: {BAR:.0%} of {ideal:g}/s")
    print(f"429 storm, {LIMIT_PER_S}/s accepted, after {RAMP_S:g} s of ramp:")
    print(f"  generator      {limited:6.1f}/s  {limited / LIMIT_PER_S:4.0%} of the limit")
    print(f"  {answered} of {published} probes answered   bar: {BAR:.0%}, and every probe")
    return rate >= BAR * ideal and limited >= BAR * LIMIT_PER_S and answered == published


def main() -> int:
    """Run the benchmark; 1 where a bar is missed."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("steady", "storm"):
            (Path(folder) / name).mkdir()
        return 0 if asyncio.run(measure(Path(folder))) else 1


if __name__ == "__main__":
    sys.exit(main())
