"""A purged unit is nowhere any more: not in the store, its suites, or on the bus; the rest is."""

import asyncio
import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.shared.bus.jetstream import Connection, JetStreamPublisher
from tests.support.bbq_rows import make_bbq_row
from tests.support.bus_contents import on_the_bus
from tests.support.commands import CommandLine
from tests.support.otlp import json_of, make_event, make_span
from tests.support.records import make_exchange
from tests.support.waiting import until

pytestmark = pytest.mark.slow

ROWS = 8
UNIT = "Regions-ambig-0"
"""Two questions about one context, which judges are asked about too."""
PLANTED, KEPT = "quinzelwort", "a ladder"
"""Words of the unit's texts and of nobody else's; and some of another unit."""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    rows = [BbqRow.model_validate(make_bbq_row(n)) for n in range(ROWS)]
    made = suite_of(rows, name="rows").model_dump_json(exclude_defaults=True)
    path = tmp_path / "suite.json"
    path.write_text(made.replace("took a book", f"took a {PLANTED}"))
    return str(path)


def in_the_store(state: Path) -> str:
    with sqlite3.connect(state / "store.db") as database:
        return "\n".join(database.iterdump())


def send_a_part(gateway: str) -> None:
    """Send what waits to be joined: a span of the unit without its texts, and what was said."""
    nothing = {"gen_ai.input.messages": None, "gen_ai.output.messages": None, "user.id": UNIT}
    now_ns = int(datetime.now(UTC).timestamp() * 1e9)
    span = make_span(1, at_ns=now_ns, attributes=nothing)
    event = make_event(1, "gen_ai.user.message", {"content": f"I am {PLANTED}."}, now_ns)
    for where, signal in (("traces", span), ("logs", event)):
        sent = httpx2.post(f"{gateway}/v1/{where}", json=json_of([signal]), timeout=60)
        assert sent.status_code == 200, sent.text


async def send_what_nobody_watches(bus: str) -> None:
    """Send an answer of the unit that becomes a dead letter."""
    connection = await Connection.open(bus, name="sender")
    answer = make_exchange(1, source="nobody", unit_id=UNIT, text=f"{PLANTED}, I said.")
    await JetStreamPublisher(connection).publish(answer)
    await connection.close()


def test_a_purged_unit_is_in_no_table_suite_stream_or_dead_letter(
    tmp_path: Path, suite: str
) -> None:
    command = CommandLine(tmp_path / "state")
    with command.up():
        here = json.loads((command.state / "platform.json").read_text())
        target = ("--target", "simulator:unbiased", "--judge", "simulator:unbiased")
        completed = command("run", suite, *target, "--json")
        assert completed.returncode == 0, completed.stderr
        run_id = json.loads(completed.stdout)["run"]["run_id"]
        send_a_part(here["url"])
        asyncio.run(send_what_nobody_watches(here["nats_url"]))
        until(lambda: "nobody" in command("admin", "dead-letters", "list").stdout)
        assert in_the_store(command.state).count(PLANTED) > 4
        assert len([item for item in asyncio.run(on_the_bus(here["nats_url"])) if PLANTED in item])
        result = command("admin", "purge", "--unit", UNIT, "--yes", "--json")
        assert result.returncode == 0, result.stderr
        body = json.loads(result.stdout)
        streamed = asyncio.run(on_the_bus(here["nats_url"]))
        assert [item[:200] for item in streamed if PLANTED in item] == []
        assert any(KEPT in item for item in streamed)
        again = json.loads(command("show", run_id, "--json").stdout)
        assert again["run"]["responses"] == ROWS
        refused = command("run", suite, *target, "--config", "new=true")
        assert refused.returncode == 2
        assert f"The texts of the unit {UNIT} were purged" in refused.stderr
    assert body["prompts"] == 2
    assert {"RESPONSES", "DEAD_EXCHANGES"} <= body["messages"].keys()
    for where in ("options that judges chose from", "Numbers, groups", "files outside"):
        assert where in body["remains"]
    left = in_the_store(command.state)
    assert [line[:300] for line in left.splitlines() if PLANTED in line] == []
    assert KEPT in left
    for path in command.state.glob("store.db*"):  # nor in what the database has freed
        assert PLANTED.encode() not in path.read_bytes(), path.name
