"""Following runs costs the same however many connections are open, and ends with them."""

import asyncio

import httpx2
import pytest

from biaswatch.services.gateway.bodies import OpenStreams
from biaswatch.services.gateway.dashboard import live_pages
from biaswatch.services.gateway.runs import routes
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.api import api_on
from tests.support.records import make_run
from tests.support.waiting import PATIENCE_S, eventually

MANY = 20
TIMES = 3
"""Repetitions, because the state of a stream when its reader leaves is random."""


def test_all_streams_together_poll_no_more_often_than_a_few() -> None:
    streams = OpenStreams(poll_s=0.5, full_rate_streams=2)
    with streams.counted():
        assert streams.poll_s == 0.5
        with streams.counted(), streams.counted(), streams.counted():
            assert streams.total / streams.poll_s == pytest.approx(2 / 0.5)
    assert streams.total == 0


@pytest.mark.parametrize("empty_store_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("path", ["/v1/runs/{}/events", "/runs/{}/events", "/events"])
async def test_a_closed_connection_is_no_longer_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    of_runs, of_pages = OpenStreams(0.3, 50), OpenStreams(2.0, 20)
    monkeypatch.setattr(routes, "run_streams", lambda: of_runs)
    monkeypatch.setattr(live_pages, "page_streams", lambda: of_pages)
    streams = of_runs if path.startswith("/v1") else of_pages
    run = make_run()
    store.records.write([run])
    async with web_server(api_on(store), "127.0.0.1", 0) as port:
        limits = httpx2.Limits(max_connections=MANY)
        address = f"http://127.0.0.1:{port}"
        async with httpx2.AsyncClient(
            base_url=address, timeout=PATIENCE_S, limits=limits
        ) as client:

            async def follow() -> None:
                async with client.stream("GET", path.format(run.id)) as reply:
                    async for _ in reply.aiter_lines():
                        pass

            for _ in range(TIMES):
                following = [asyncio.create_task(follow()) for _ in range(MANY)]
                await eventually(lambda: streams.total == MANY)
                for item in following:
                    item.cancel()
                await asyncio.gather(*following, return_exceptions=True)
                await eventually(lambda: streams.total == 0)
