"""Traffic sent over HTTP to services in processes, which a test pauses or kills meanwhile."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2

from biaswatch.shared.bus.jetstream import (
    Admin,
    Connection,
    JetStreamPublisher,
    RecordQueue,
    provision,
)
from biaswatch.shared.bus.port import Queue
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import Exchange, Monitor, Traffic, Upkeep, window_at
from biaswatch.shared.runtime.web import free_port
from biaswatch.shared.store import Store, migrate
from tests.support.records import make_traffic_monitor
from tests.support.waiting import PATIENCE_S

BUS = "bus"
SERVICES = ("gateway", "extractor", "recorder", "planner", "diagnoser")
VICTIMS = ("recorder", "gateway", "planner", "diagnoser", BUS)
HERE = "127.0.0.1"
TICKS_A_SECOND = 4
BATCH = 500
REPLY_S = 30.0
"""How long a sender waits for the 202 before it sends the batch again."""
FIRST_WAIT_S = 0.5
"""How long a sender waits before it sends again; twice as long after each further failure."""
DOWN_S = 3.0
"""How long what was killed stays down."""
EVERY = 20
"""Of so many answers, one each lacks a user, a group or a text, and one is of a returning user."""
NO_UNIT, NO_GROUP, NO_TEXT, RETURNING = range(4)


@dataclass(frozen=True)
class Disturbance:
    """What befalls whom around the end of which window."""

    window: int
    victim: str
    pause_s: float = 0.0
    """How long it is stopped; 0: it is killed, and started again."""


@dataclass(frozen=True)
class TrafficPlan:
    """How much is sent, and what befalls the services meanwhile."""

    windows: int
    window_s: int
    answers: int
    """Answers a window."""
    lateness_s: float
    disturbances: tuple[Disturbance, ...]


@dataclass
class DueAnswer:
    """An answer, and what its sender knows of it."""

    number: int
    at: datetime
    taken_at: datetime | None = None
    """When the first 202 for it came back."""
    tries: int = 0
    """How often it was sent, with or without a reply."""
    replies: int = 0
    """How many 202s came back."""

    @property
    def id(self) -> str:
        """The sender's own name of it."""
        return f"a-{self.number}"

    @property
    def kind(self) -> int:
        """What it lacks, if anything."""
        return self.number % EVERY

    def sent(self) -> dict[str, object]:
        """Return the answer as the API takes it."""
        odd = bool(self.number // EVERY % 2)
        body: dict[str, object] = {"id": self.id, "at": self.at.isoformat()}
        body |= {"reason": "timeout"} if self.kind == NO_TEXT else {"text": "yes " * (1 + 5 * odd)}
        if self.kind != NO_GROUP:
            body["groups"] = {"gender": "female" if odd else "male"}
        if self.kind != NO_UNIT:
            returning = self.kind == RETURNING
            body["unit"] = f"regular-{odd}" if returning else f"user-{self.number}"
        return body


@dataclass
class Platform:
    """A bus, a store, and the services of traffic as processes of their own."""

    folder: Path
    server: EmbeddedServer
    store: Store
    taken_in: Queue
    """The answers that the bus has taken and nobody has accounted for."""
    environment: dict[str, str]
    gateway_port: int
    metrics_port: int
    monitor: Monitor
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where the gateway answers."""
        return f"http://{HERE}:{self.gateway_port}"

    def start(self, service: str) -> None:
        """Start a service."""
        port = str(self.metrics_port if service == "diagnoser" else 0)
        with (self.folder / f"{service}.log").open("ab") as log:
            self.processes[service] = subprocess.Popen(
                [sys.executable, "-m", f"biaswatch.services.{service}.app"],
                env={**self.environment, "BIASWATCH_HEALTH_PORT": port},
                stdout=log,
                stderr=log,
            )

    async def befall(self, disturbance: Disturbance) -> None:
        """Stop the victim for a while, or kill it and start it again."""
        victim = disturbance.victim
        if disturbance.pause_s:
            pid = self.server.pid if victim == BUS else self.processes[victim].pid
            os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(disturbance.pause_s)
            os.kill(pid, signal.SIGCONT)
            return
        if victim == BUS:
            self.server.kill()
        else:
            self.processes[victim].kill()
            self.processes[victim].wait()
        await asyncio.sleep(DOWN_S)
        if victim == BUS:
            self.server.start()
        else:
            self.start(victim)

    def restart_dead(self) -> list[str]:
        """Start the services that ended by themselves, as a supervisor would; return which."""
        dead = [name for name, process in self.processes.items() if process.poll() is not None]
        for name in dead:
            self.start(name)
        return dead

    async def accounted(self) -> bool:
        """Tell whether every answer that the bus has taken is accounted for."""
        queued = await self.taken_in.position()
        return queued.first > queued.last

    def end(self) -> None:
        """Stop every service."""
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.processes.values():
            process.wait(PATIENCE_S)


def watching(schedule: TrafficPlan, since: datetime) -> Monitor:
    """Return the monitor of the traffic."""
    traffic_monitor = make_traffic_monitor()
    plan = traffic_monitor.plan.model_copy(update={"traffic": Traffic(window_s=schedule.window_s)})
    upkeep = Upkeep(
        cadence_s=schedule.window_s, lateness_s=schedule.lateness_s, deadline_s=PATIENCE_S
    )
    return make_traffic_monitor(plan=plan, upkeep=upkeep, since=since)


@asynccontextmanager
async def platform(
    folder: Path, monitor: Monitor, settings: Mapping[str, str]
) -> AsyncIterator[Platform]:
    """Run a platform that watches traffic while the context lasts."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    environment = {
        **os.environ,
        "BIASWATCH_STORE_URL": url,
        "BIASWATCH_GATEWAY_HOST": HERE,
        "BIASWATCH_GATEWAY_PORT": str(port := free_port(HERE)),
        "BIASWATCH_EXTRACTOR_NAMES": "words",
        "BIASWATCH_PLANNER_RECONCILE_S": "10",
        "BIASWATCH_PLANNER_LOOK_S": "0.2",
        "BIASWATCH_DIAGNOSER_GAUGE_S": "1",
        **settings,
    }
    with EmbeddedServer(folder / "nats") as server, Store.open(url) as store:
        environment["NATS_URL"] = server.url
        connection = await Connection.open(server.url, name="test")
        await provision(Admin(connection))
        queue = RecordQueue(connection, Exchange)
        result = Platform(folder, server, store, queue, environment, port, free_port(HERE), monitor)
        try:
            for service in SERVICES:
                result.start(service)
            store.records.write([monitor])
            await JetStreamPublisher(connection).publish(monitor)
            yield result
        finally:
            result.end()
            await connection.close()


class Senders:
    """A live system that sends every answer until it has a 202."""

    def __init__(self, url: str, schedule: TrafficPlan, *, token: str | None = None) -> None:
        self._schedule = schedule
        headers = {"Authorization": f"Bearer {token}"} if token else None
        self._http = httpx2.AsyncClient(base_url=url, timeout=REPLY_S, headers=headers)
        self.answers: list[DueAnswer] = []
        self._stopped = False

    async def send(self) -> None:
        """Send as many answers as planned in every window; return when each has a 202."""
        plan, waiting = self._schedule, []
        traffic_s = plan.windows * plan.window_s
        total, began = plan.windows * plan.answers, time.monotonic()
        for tick in range(1, traffic_s * TICKS_A_SECOND + 1):
            if self._stopped:
                break
            await asyncio.sleep(max(0.0, began + tick / TICKS_A_SECOND - time.monotonic()))
            now, due = datetime.now(UTC), total * tick // (traffic_s * TICKS_A_SECOND)
            new = [DueAnswer(number, now) for number in range(len(self.answers), due)]
            self.answers += new
            parts = [new[start : start + BATCH] for start in range(0, len(new), BATCH)]
            waiting += [asyncio.create_task(self._deliver(part)) for part in parts]
        await asyncio.gather(*waiting)
        await self._http.aclose()

    async def stop(self, sending: "asyncio.Task[None]") -> None:
        """Send nothing new; return when all that was begun has a 202."""
        self._stopped = True
        await sending

    async def _deliver(self, batch: Sequence[DueAnswer]) -> None:
        body = {"source": "support", "responses": [item.sent() for item in batch]}
        wait_s = FIRST_WAIT_S
        while batch[0].taken_at is None:
            for item in batch:
                item.tries += 1
            with suppress(httpx2.HTTPError):
                if (await self._http.post("/v1/responses", json=body)).status_code == 202:
                    for item in batch:
                        item.taken_at, item.replies = datetime.now(UTC), item.replies + 1
                    return
            await asyncio.sleep(wait_s)
            wait_s *= 2


async def disturb(here: Platform, schedule: TrafficPlan, first: datetime) -> None:
    """Let what is planned befall the services, each around the end of its window."""
    for disturbance in sorted(schedule.disturbances, key=lambda planned: planned.window):
        ends = first + timedelta(seconds=schedule.window_s * (disturbance.window + 1))
        before_s = disturbance.pause_s / 2 if disturbance.pause_s else DOWN_S / 2
        at = ends - timedelta(seconds=before_s)
        await asyncio.sleep(max(0.0, (at - datetime.now(UTC)).total_seconds()))
        await here.befall(disturbance)


def expected_members(answers: Sequence[DueAnswer], window_s: int) -> dict[datetime, Counter[str]]:
    """Return the accounts that members of each window belong to, by the window's beginning.

    A regular user is evidence in the first window, and described in the others.
    """
    result: dict[datetime, Counter[str]] = {}
    entered: dict[str, datetime] = {}
    for answer in sorted(answers, key=lambda one: one.at):
        begins = window_at(answer.at, window_s).begins
        accounts = result.setdefault(begins, Counter())
        if answer.kind == NO_TEXT:
            accounts["without_text"] += 1
        elif answer.kind == NO_GROUP:
            accounts["without_group"] += 1
        elif answer.kind == NO_UNIT:
            accounts["described"] += 1
        else:
            user = str(answer.sent()["unit"])
            first = entered.setdefault(user, begins)
            accounts["evidence" if first == begins else "described"] += 1
    return result
