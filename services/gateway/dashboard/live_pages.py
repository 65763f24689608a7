"""Server-sent events that keep pages up to date."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.dashboard.overview_pages import OverviewQueries
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.stream_limits import LONGEST_S, OpenPages
from biaswatch.shared.presentation.overview import (
    LiveNumbers,
    live_monitor,
    live_overview,
    live_run,
)
from biaswatch.shared.runtime.blocking import in_thread

MOST_RUNS = 25


@dataclass(frozen=True)
class LiveQueries:
    """Looks at what pages show; it blocks, so call it in a thread."""

    runs: RunQueries
    monitors: MonitorQueries
    overview: OverviewQueries

    def platform(self) -> LiveNumbers:
        """Return the numbers of the overview."""
        standing = [each.id for each in self.overview.status.standing()]
        return live_overview(self.runs.latest(MOST_RUNS), self.monitors.statuses(), standing)

    def run(self, run_id: str) -> LiveNumbers:
        """Return the numbers of a run's page."""
        return live_run(self.runs.progress(run_id))

    def monitor(self, name: str) -> LiveNumbers:
        """Return the numbers of a monitor's page."""
        return live_monitor(self.monitors.status(name))


def live_routes(queries: LiveQueries, tokens: Tokens) -> APIRouter:
    """Return the streams of the overview, of a run and of a monitor.

    They answer to a page's session and show its tenant, like the pages themselves.
    """
    router, pages = APIRouter(), OpenPages()

    async def counted(caller: Annotated[Caller, Depends(tokens.signed_in)]) -> AsyncIterator[None]:
        """Count a page until the request ends: a stream may be left without being ended."""
        name = f"{caller.tenant}/{caller.name}"
        pages.refuse_too_many(name)
        with pages.one_more(name):
            yield

    admitted = [Depends(counted)]

    @router.get("/events", response_class=EventSourceResponse, dependencies=admitted)
    async def follow_platform() -> AsyncIterator[LiveNumbers]:
        async for each in _changes(queries.platform, pages):
            yield each

    # What is not there is told before the stream begins, by the last of each one's arguments.
    @router.get("/runs/{run_id}/events", response_class=EventSourceResponse, dependencies=admitted)
    async def follow_run(
        run_id: str, _: Annotated[LiveNumbers, Depends(queries.run)]
    ) -> AsyncIterator[LiveNumbers]:
        async for each in _changes(lambda: queries.run(run_id), pages):
            yield each

    @router.get(
        "/monitors/{name}/events", response_class=EventSourceResponse, dependencies=admitted
    )
    async def follow_monitor(
        name: str, _: Annotated[LiveNumbers, Depends(queries.monitor)]
    ) -> AsyncIterator[LiveNumbers]:
        async for each in _changes(lambda: queries.monitor(name), pages):
            yield each

    return router


async def _changes(look: Callable[[], LiveNumbers], pages: OpenPages) -> AsyncIterator[LiveNumbers]:
    """Yield what a page shows whenever it changes, for as long as a connection may last."""
    last: LiveNumbers | None = None
    until = asyncio.get_running_loop().time() + LONGEST_S
    while asyncio.get_running_loop().time() < until:
        if (found := await in_thread(look)) != last:
            last = found
            yield found
        await asyncio.sleep(pages.look_every_s)
