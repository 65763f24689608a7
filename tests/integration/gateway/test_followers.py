"""Following runs costs the same however many connections are opened, and ends with them."""

import asyncio

import httpx2
import pytest

from biaswatch.services.gateway.dashboard import live_pages
from biaswatch.services.gateway.runs import routes
from biaswatch.services.gateway.stream_limits import (
    FOLLOW_EVERY_S,
    MOST_FOLLOWERS,
    Followers,
    OpenPages,
)
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.api import api_on
from tests.support.records import make_run
from tests.support.waiting import PATIENCE_S, eventually

MANY = 20
TIMES = 3
"""What a stream is at when its reader leaves is chance."""


def test_all_followers_together_look_no_more_often_than_a_few() -> None:
    followers = Followers()
    with followers.one_more():
        assert followers.look_every_s == FOLLOW_EVERY_S
        followers.now = 200 * MOST_FOLLOWERS
        assert followers.now / followers.look_every_s == pytest.approx(
            MOST_FOLLOWERS / FOLLOW_EVERY_S
        )


class CountedPages(OpenPages):
    """Open pages that tell how many there are, as followers do."""

    @property
    def now(self) -> int:
        return self._by_caller.total()


@pytest.mark.parametrize("empty_store_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("path", ["/v1/runs/{}/events", "/runs/{}/events", "/events"])
async def test_who_hangs_up_follows_no_more(
    store: Store, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    followers, pages = Followers(), CountedPages()
    monkeypatch.setattr(routes, "Followers", lambda: followers)
    monkeypatch.setattr(live_pages, "OpenPages", lambda: pages)
    counted = followers if path.startswith("/v1") else pages
    run = make_run()
    store.records.write([run])
    async with web_server(api_on(store), "127.0.0.1", 0) as port:
        limits = httpx2.Limits(max_connections=MANY)
        where = f"http://127.0.0.1:{port}"
        async with httpx2.AsyncClient(base_url=where, timeout=PATIENCE_S, limits=limits) as client:

            async def follow() -> None:
                async with client.stream("GET", path.format(run.id)) as reply:
                    async for _ in reply.aiter_lines():
                        pass

            for _ in range(TIMES):
                following = [asyncio.create_task(follow()) for _ in range(MANY)]
                await eventually(lambda: counted.now == MANY)
                for each in following:
                    each.cancel()
                await asyncio.gather(*following, return_exceptions=True)
                await eventually(lambda: counted.now == 0)
