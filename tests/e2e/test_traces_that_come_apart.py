"""The whole platform takes traces that come in pieces: each call is one answer in the evidence."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from biaswatch.local.client import GatewayClient
from biaswatch.local.platform import embedded_platform
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.requests.traffic import UnwatchedView
from biaswatch.shared.runtime.settings import Settings
from tests.support.commands import CommandLine
from tests.support.otlp import make_event, make_span, protobuf_of
from tests.support.waiting import PATIENCE_S

CALLS, UNWATCHED = 60, 7
NO_CONTENT = {"gen_ai.input.messages": None, "gen_ai.output.messages": None}
MONITOR = {
    "name": "support",
    "target": "traffic:support",
    "window": "10m",
    "lateness": "1s",
    "features": [{"extractor": "length", "feature": "words", "high": 40, "tolerance": 1}],
    "comparisons": [{"dimension": "gender", "a": "female", "b": "male"}],
}
PROTOBUF = {"Content-Type": "application/x-protobuf"}
SHORT, LONG = "Yes.", " ".join(["word"] * 30)


class MovedClock:
    """The time of planner and diagnoser: now, or later once a test has moved it."""

    ahead = timedelta()

    def __call__(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC) + self.ahead


@dataclass(frozen=True)
class Apart:
    """A platform that is up, and a sender of traces."""

    client: GatewayClient
    clock: MovedClock
    command: CommandLine
    url: str

    async def send(self, batches: Sequence[Sequence[Signal]]) -> None:
        """Send batches, each of spans or of log events, in their order."""
        async with httpx2.AsyncClient(base_url=self.url, timeout=PATIENCE_S) as http:
            for batch in batches:
                where = "/v1/traces" if batch[0].is_span else "/v1/logs"
                reply = await http.post(where, content=protobuf_of(batch), headers=PROTOBUF)
                assert reply.status_code == 200, reply.text

    async def accounted(self, duplicates: int = 0, **expected: int) -> None:
        """Wait until the accounts are these, with at least so many duplicates."""

        async def is_so() -> bool:
            accounts = (await self.client.monitor("support")).accounts
            counts = {} if accounts is None else {name: n for name, n in accounts if n}
            return counts.pop("duplicate", 0) >= duplicates and counts == expected

        await _until(is_so)


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Apart]:
    clock, command = MovedClock(), CommandLine(tmp_path / "cli")
    settings = Settings(state_dir=tmp_path / "state", log_level="ERROR")
    async with embedded_platform(settings, clock=clock) as here:
        client = GatewayClient(here.url)
        try:
            yield Apart(client, clock, command, here.url)
        finally:
            await client.close()


async def _until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await is_so():
            await asyncio.sleep(0.2)


def pieces() -> list[list[Signal]]:
    """Return what is known of each call in batches of one kind, shuffled, and some of it twice."""
    at_ns = int(datetime.now(UTC).timestamp() * 1e9)
    spans = [make_span(n, at_ns=at_ns, attributes=NO_CONTENT) for n in range(CALLS)]
    asked = [make_event(n, "gen_ai.user.message", {"content": "Well?"}, 1) for n in range(CALLS)]
    events = [
        make_event(n, "gen_ai.choice", {"message": {"content": LONG if n % 2 else SHORT}}, 2)
        for n in range(CALLS)
    ]
    luck, batches = random.Random(7), []
    for kind in (spans, [*asked, *events]):
        mixed = luck.sample(kind, len(kind))
        batches += [mixed[start : start + 7] for start in range(0, len(mixed), 7)]
    return luck.sample([*batches, *batches[::3]], len([*batches, *batches[::3]]))


async def test_pieces_of_traces_are_one_answer_each_in_account_evidence_and_alarm(
    platform: Apart,
) -> None:
    await platform.client.apply_monitor(MONITOR)
    first = pieces()
    await platform.send(first)
    await platform.accounted(waiting=CALLS)
    await platform.send(first[::-1])  # a client that never heard of a reply
    await platform.accounted(CALLS, waiting=CALLS)
    billing = {"service.name": "billing"}
    await platform.send([[make_span(900 + n, resource=billing) for n in range(UNWATCHED)]])
    platform.clock.ahead = timedelta(minutes=21)
    await platform.accounted(CALLS, evidence=CALLS)

    result = await platform.client.monitor("support")
    words = next(item for item in result.evidence if item.number == "length.words")
    assert words.units == CALLS
    assert words.gap.value == pytest.approx(29, abs=0.2)  # values are counted in steps
    assert [alarm.words for alarm in result.alarms if "words" in alarm.comparison_key]
    unwatched = await platform.client.read(list[UnwatchedView], "/v1/unwatched")
    assert [(item.source, item.answers) for item in unwatched] == [("billing", UNWATCHED)]
    listed = await asyncio.to_thread(
        platform.command, "monitor", "list", "--unwatched", "--server", platform.url
    )
    assert listed.stdout.startswith(f"billing  {UNWATCHED} answers"), listed.stderr
