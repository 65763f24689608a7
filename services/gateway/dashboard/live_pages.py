"""Server-sent events that keep pages up to date."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse

from biaswatch.services.gateway.bodies import MAX_STREAM_S, OpenStreams, page_streams
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.status import StatusQueries, status_queries
from biaswatch.shared.presentation.live_numbers import (
    LiveNumbers,
    live_monitor,
    live_overview,
    live_run,
)
from biaswatch.shared.runtime.threads import in_thread

MAX_RUNS = 25


@dataclass(frozen=True)
class LiveQueries:
    """Blocking queries of the numbers that pages show; call them in a thread."""

    status: StatusQueries

    def overview(self) -> LiveNumbers:
        """Return the numbers of the overview."""
        status = self.status
        raised = [alarm.id for alarm in status.raised()]
        return live_overview(status.runs.latest(MAX_RUNS), status.monitors.statuses(), raised)

    def run(self, run_id: str) -> LiveNumbers:
        """Return the numbers of a run's page."""
        return live_run(self.status.runs.progress(run_id))

    def monitor(self, name: str) -> LiveNumbers:
        """Return the numbers of a monitor's page."""
        return live_monitor(self.status.monitors.status(name))


def router(ctx: GatewayContext) -> APIRouter:
    """Return the streams of the overview, of a run and of a monitor.

    They accept a page's session and show its tenant, like the pages themselves.
    """
    router, streams, queries = APIRouter(), page_streams(), LiveQueries(status_queries(ctx))

    async def counted(
        caller: Annotated[Caller, Depends(ctx.tokens.signed_in)],
    ) -> AsyncIterator[None]:
        """Count a stream until its request ends, also if it is abandoned."""
        name = f"{caller.tenant}/{caller.name}"
        streams.check_limits(name)
        with streams.counted(name):
            yield

    limited = [Depends(counted)]

    @router.get("/events", response_class=EventSourceResponse, dependencies=limited)
    async def follow_platform() -> AsyncIterator[LiveNumbers]:
        async for numbers in _changes(queries.overview, streams):
            yield numbers

    # The second dependency raises NotFoundError before streaming starts.
    @router.get("/runs/{run_id}/events", response_class=EventSourceResponse, dependencies=limited)
    async def follow_run(
        run_id: str, _: Annotated[LiveNumbers, Depends(queries.run)]
    ) -> AsyncIterator[LiveNumbers]:
        async for numbers in _changes(lambda: queries.run(run_id), streams):
            yield numbers

    @router.get("/monitors/{name}/events", response_class=EventSourceResponse, dependencies=limited)
    async def follow_monitor(
        name: str, _: Annotated[LiveNumbers, Depends(queries.monitor)]
    ) -> AsyncIterator[LiveNumbers]:
        async for numbers in _changes(lambda: queries.monitor(name), streams):
            yield numbers

    return router


async def _changes(
    read: Callable[[], LiveNumbers], streams: OpenStreams
) -> AsyncIterator[LiveNumbers]:
    """Yield the numbers of a page whenever they change, until the stream's time limit."""
    last: LiveNumbers | None = None
    deadline = asyncio.get_running_loop().time() + MAX_STREAM_S
    while asyncio.get_running_loop().time() < deadline:
        if (numbers := await in_thread(read)) != last:
            last = numbers
            yield numbers
        await asyncio.sleep(streams.poll_s)
