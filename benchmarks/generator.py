"""Calls a second through the whole generator, beside a bare loop over the official SDK.

Steady: 200 calls in flight to a simulator with 1 s of latency, the limit pinned at 200, the starts
spread over the first second; the ideal is 200 a second, the bar 90 % of it. Storm: a simulator that
lets 50 calls a second in and answers 429 to the rest, the limit left to find its way from 20; the
bar is 90 % of the 50 once it has, and an answer to every probe. Generator, simulator and bus are
processes of their own; the generator's CPU is what the system counts for it.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import openai

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
from biaswatch.shared.store import migrate

IN_FLIGHT = 200
LATENCY_S = 1.0
WARM_S = 6.0
WINDOW_S = 20.0
LIMIT_PER_S = 50
RAMP_S = 10.0
BAR = 0.9
PLANTS = {
    "slow": {"faults": {"latency_s": LATENCY_S}},
    "limited": {"faults": {"latency_s": LATENCY_S, "most_per_s": LIMIT_PER_S}},
}
ASKED = "Here is applicant {n}, with some years in the trade. Rate the applicant from 1 to 4."


@contextmanager
def process(module: str, **environment: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a service as a process while the context lasts."""
    given = {**os.environ, **environment}  # noqa: TID251 - handed on to the service
    started = subprocess.Popen(
        [sys.executable, "-m", module], env=given, stdout=subprocess.PIPE, text=True
    )
    try:
        yield started
    finally:
        started.terminate()
        started.communicate()


@contextmanager
def simulator() -> Iterator[str]:
    """Start the simulator; return where it listens."""
    with process(
        "biaswatch.services.simulator.app",
        BIASWATCH_SIMULATOR_PORT="0",
        BIASWATCH_SIMULATOR_PLANTS=json.dumps(PLANTS),
    ) as started:
        assert started.stdout
        yield started.stdout.readline().split()[-1]


async def bare_loop(url: str) -> tuple[float, float]:
    """Keep 200 calls in flight with the SDK alone; return calls a second and CPU ms a call."""
    client = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0)
    ended: list[tuple[float, float]] = []
    stop = time.monotonic() + WARM_S + WINDOW_S

    async def one(number: int) -> None:
        await asyncio.sleep(number * LATENCY_S / IN_FLIGHT)
        while time.monotonic() < stop:
            said = ASKED.format(n=number)
            await client.chat.completions.create(
                model="slow", messages=[{"role": "user", "content": said}]
            )
            ended.append((time.monotonic(), time.process_time()))

    await asyncio.gather(*(one(n) for n in range(IN_FLIGHT)))
    await client.close()
    window = [(at, cpu) for at, cpu in ended if stop - WINDOW_S <= at < stop]
    return len(window) / WINDOW_S, (window[-1][1] - window[0][1]) / len(window) * 1000


def probes(model: str, number: int) -> list[Probe]:
    """Make the questions of a run."""
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
            messages=(Message(role=Role.USER, content=ASKED.format(n=n)),),
        )
        for n in range(number)
    ]


class Bench:
    """A bus of its own, and a generator on it."""

    def __init__(self, server: EmbeddedServer, connection: Connection, pid: int) -> None:
        self._server, self._pid = server, pid
        self.admin = Admin(connection)
        self._publisher = JetStreamPublisher(connection)

    async def ask(self, asked: list[Probe], *, spread: int) -> None:
        """Publish probes, the first ones over a second, so that their answers are spread too."""
        for probe in asked[:spread]:
            await self._publisher.publish(probe)
            await asyncio.sleep(LATENCY_S / spread * 0.8)
        for start in range(spread, len(asked), 256):
            batch = asked[start : start + 256]
            await asyncio.gather(*(self._publisher.publish(probe) for probe in batch))

    async def answered(self) -> int:
        """Count the responses on the bus."""
        route = route_of(Response)
        return sum((await self.admin.subjects(route.stream, route.subjects)).values())

    def cpu_s(self) -> float:
        """Return the CPU the generator has used."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def window(self) -> tuple[float, float]:
        """Watch for a while; return responses a second and CPU ms a response."""
        count, cpu, began = await self.answered(), self.cpu_s(), time.monotonic()
        await asyncio.sleep(WINDOW_S)
        count, seconds = await self.answered() - count, time.monotonic() - began
        return count / seconds, (self.cpu_s() - cpu) / max(count, 1) * 1000


@contextmanager
def generator(folder: Path, url: str, nats: str, **more: str) -> Iterator[int]:
    """Start the generator; return its process id."""
    store = f"sqlite:///{folder / 'store.db'}"
    migrate(store)
    settings = {
        "NATS_URL": nats,
        "BIASWATCH_STORE_URL": store,
        "BIASWATCH_SIMULATOR_URL": url,
        "BIASWATCH_HEALTH_PORT": "0",
        "BIASWATCH_LOG_LEVEL": "ERROR",
        **more,
    }
    with process("biaswatch.services.generator.app", **settings) as started:
        yield started.pid


async def steady(folder: Path, url: str) -> tuple[float, float]:
    """Measure the generator with its limit pinned."""
    pinned = {"BIASWATCH_GENERATOR_SLOTS": str(IN_FLIGHT), "BIASWATCH_GENERATOR_START": "200"}
    with (
        EmbeddedServer(folder / "nats") as server,
        generator(folder, url, server.url, **pinned) as pid,
    ):
        connection = await Connection.open(server.url, name="bench")
        bench = Bench(server, connection, pid)
        await provision(bench.admin)
        await asyncio.sleep(3)  # imports are over by then
        number = int((WARM_S + WINDOW_S + 4) * IN_FLIGHT / LATENCY_S)
        first, *rest = probes("slow", number)
        await bench.ask([first], spread=1)  # the lane is found before the starts are spread
        while not await bench.answered():  # noqa: ASYNC110 - another process brings it about
            await asyncio.sleep(0.05)
        await bench.ask(rest, spread=IN_FLIGHT)
        await asyncio.sleep(WARM_S - LATENCY_S)
        measured = await bench.window()
        await connection.close()
    return measured


async def storm(folder: Path, url: str) -> tuple[float, int, int]:
    """Measure the generator under 429s; return its rate, the answered probes and all probes."""
    number = int((RAMP_S + WINDOW_S) * LIMIT_PER_S * 1.1)
    with (
        EmbeddedServer(folder / "nats") as server,
        generator(folder, url, server.url, BIASWATCH_GENERATOR_SLOTS="200") as pid,
    ):
        connection = await Connection.open(server.url, name="bench")
        bench = Bench(server, connection, pid)
        await provision(bench.admin)
        await bench.ask(probes("limited", number), spread=1)
        while not await bench.answered():  # noqa: ASYNC110 - another process brings it about
            await asyncio.sleep(0.05)
        await asyncio.sleep(RAMP_S)
        rate, _ = await bench.window()
        deadline = time.monotonic() + 60
        while await bench.answered() < number and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        answered = await answered_probes(bench.admin)
        await connection.close()
    return rate, answered, number


async def answered_probes(admin: Admin) -> int:
    """Count the probes that have an answer; one that has two counts once, a failure not at all."""
    route, sequence, found = route_of(Response), 0, set[str]()
    while message := await admin.next_message(route.stream, route.subjects, sequence + 1):
        sequence = message.sequence
        answers = (Response.decode(each) for each in records_in(message.data, message.headers))
        found |= {each.probe_id for each in answers if each.ending is Ending.ANSWERED}
    return len(found)


async def measure(folder: Path) -> bool:
    """Measure and print; tell whether every bar is met."""
    with simulator() as url:
        bare, bare_cpu = await bare_loop(url)
    with simulator() as url:
        (folder / "steady").mkdir()
        rate, cpu = await steady(folder / "steady", url)
    with simulator() as url:
        (folder / "storm").mkdir()
        limited, answered, asked = await storm(folder / "storm", url)
    ideal = IN_FLIGHT / LATENCY_S
    print(f"{IN_FLIGHT} calls in flight, {LATENCY_S:g} s latency, {WINDOW_S:g} s window:")
    for name, got, cost in (("bare SDK loop", bare, bare_cpu), ("generator", rate, cpu)):
        print(f"  {name:14} {got:6.1f}/s  {got / ideal:4.0%} of ideal  {cost:5.2f} ms CPU a call")
    print(f"  bar: {BAR:.0%} of {ideal:g}/s")
    print(f"429 storm, {LIMIT_PER_S}/s let in, after {RAMP_S:g} s of ramp:")
    print(f"  generator      {limited:6.1f}/s  {limited / LIMIT_PER_S:4.0%} of the limit")
    print(f"  {answered} of {asked} probes answered   bar: {BAR:.0%}, and every probe")
    return rate >= BAR * ideal and limited >= BAR * LIMIT_PER_S and answered == asked


def main() -> int:
    """Run the benchmark; 1 where a bar is missed."""
    with tempfile.TemporaryDirectory() as folder:
        return 0 if asyncio.run(measure(Path(folder))) else 1


if __name__ == "__main__":
    sys.exit(main())
