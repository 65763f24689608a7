"""What a monitor or a live system is exported as: every window, also those not read yet."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from biaswatch.exporting.answers import Row, exported_rows, runs_named
from biaswatch.local.client import GatewayClient
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import Run, window_run
from biaswatch.shared.contracts.traffic import Window, window_at
from biaswatch.shared.requests.traffic import traffic_window
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.api import CheckedPublisher
from tests.support.records import make_traffic_monitor
from tests.support.watched_answers import take_in, watched_store

HOUR = timedelta(hours=1)
NOW = datetime.now(UTC)
WINDOW = window_at(NOW, 3600)
MONITOR = make_traffic_monitor(name="watch-support")


def answer(n: int, at: datetime) -> dict[str, Any]:
    return {"id": f"a-{n}", "at": at, "text": "One two.", "unit": f"u-{n}",
            "groups": {"gender": "female" if n % 2 else "male"}}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Make a store with a window that was read, one under way, and one that took nothing in."""
    with watched_store(tmp_path_factory.mktemp("store"), MONITOR) as store:
        take_in(store, "support", [answer(n, NOW) for n in range(3)], ["words"])
        take_in(store, "support", [answer(n, NOW - HOUR) for n in range(5)], ["words"])
        read = Window(begins=WINDOW.begins - HOUR, ends=WINDOW.begins)
        store.records.write([window_run(MONITOR, read, NOW)])
        traffic = MONITOR.plan.traffic
        assert traffic is not None
        refused = traffic_window(MONITOR, traffic, NOW - 3 * HOUR)
        store.window_answers.count_refused(Counter({refused: 2}))
        yield store


@pytest.fixture
async def client(store: Store) -> AsyncIterator[GatewayClient]:
    app = web_app(GatewaySettings(), store, CheckedPublisher())  # type: ignore[arg-type]
    async with web_server(app, "127.0.0.1", 0) as port:
        client = GatewayClient(f"http://127.0.0.1:{port}", None)
        yield client
        await client.close()


async def exported(client: GatewayClient, name: str, since: datetime | None) -> list[Row]:
    runs = await runs_named(client, name, since)
    return [row async for row in exported_rows(client, runs)]


@pytest.mark.parametrize("name", ["support", "watch-support"])
async def test_a_monitor_and_its_live_system_are_all_windows_the_first_first(
    client: GatewayClient, store: Store, name: str
) -> None:
    rows = await exported(client, name, None)
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    assert sorted(row["id"] for row in rows) == sorted(
        f"a-{n}" for many in (3, 5) for n in range(many)
    )
    assert {row["words.words"] for row in rows} == {2.0}
    assert len(list(store.records.all(Run))) == 1  # the window under way has none yet


async def test_since_leaves_out_the_windows_before(client: GatewayClient) -> None:
    rows = await exported(client, "support", WINDOW.begins)
    assert sorted(row["id"] for row in rows) == ["a-0", "a-1", "a-2"]
    assert await exported(client, "support", WINDOW.ends) == []


async def test_what_is_exported_again_is_the_same(client: GatewayClient, tmp_path: Path) -> None:
    first, again = [await exported(client, "support", None) for _ in range(2)]
    assert first == again
