"""The gateway's HTTP face."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.sse import EventSourceResponse
from pydantic import BaseModel

from services.gateway.domain import (
    ENDED,
    BriefRequest,
    Interpretation,
    Progress,
    RunRequest,
    Started,
)
from services.gateway.handlers import Desk, Studies, StudyResults
from services.gateway.handlers.studies import FlaggedPair
from services.gateway.routes.tokens import Tokens
from shared.contracts import Assessment, Brief, Cancellation, Diagnosis, Purpose, Run, Suite
from shared.runtime.blocking import in_thread

Send = Callable[[Run | Cancellation | Brief], Awaitable[None]]
LOOK_EVERY_S = 0.3
MOST_RUNS = 10_000


class Kept(BaseModel):
    """Where a suite is kept."""

    hash: str


def routes(desk: Desk, studies: Studies, send: Send, tokens: Tokens) -> APIRouter:
    """Return the routes of the API."""
    router = APIRouter(prefix="/v1")
    router.include_router(_studying(studies, tokens))
    router.include_router(_reading(desk, tokens))
    router.include_router(_running(desk, send, tokens))
    return router


def _reading(desk: Desk, tokens: Tokens) -> APIRouter:
    """Return what shows."""
    router = APIRouter(dependencies=[Depends(tokens.may_read)])

    @router.get("/runs")
    async def list_runs(
        last: Annotated[int, Query(ge=1, le=MOST_RUNS)] = 100, purpose: Purpose = Purpose.STUDY
    ) -> list[Progress]:
        """Return the latest runs; rounds of monitors and windows of traffic by their purpose."""
        return await in_thread(desk.runs, last, purpose)

    @router.get("/runs/{run_id}")
    async def show_run(run_id: str) -> Progress:
        return await in_thread(desk.progress, run_id)

    @router.get("/runs/{run_id}/events", response_class=EventSourceResponse)
    async def follow_run(
        stand: Annotated[Progress, Depends(show_run)], opening: int = 0
    ) -> AsyncIterator[Progress]:
        """Return the run's progress whenever it changes, until it has ended.

        With `opening`, news of an earlier one are left out: the run is about to be taken up again.
        """
        async for news in _news(desk, stand.run_id, opening):
            yield news

    @router.get("/runs/{run_id}/diagnoses")
    async def show_diagnoses(run_id: str) -> list[Diagnosis]:
        return await in_thread(desk.diagnoses, run_id)

    @router.get("/runs/{run_id}/assessments")
    async def show_assessments(run_id: str) -> list[Assessment]:
        return await in_thread(desk.assessments, run_id)

    @router.get("/interpretations/{brief_id}")
    async def show_interpretation(brief_id: str) -> Interpretation:
        found = await in_thread(desk.evaluation, brief_id)
        return Interpretation(brief_id=brief_id, evaluation=found)

    return router


def _studying(studies: Studies, tokens: Tokens) -> APIRouter:
    """Return what shows the results of studies with pairs."""
    router = APIRouter(dependencies=[Depends(tokens.may_read)])

    @router.get("/runs/{run_id}/studies")
    async def show_studies(run_id: str) -> StudyResults:
        """Return scores, pairs, judges and the comparisons of models."""
        return await in_thread(studies.results, run_id)

    @router.get("/runs/{run_id}/flagged")
    async def show_flagged(
        run_id: str, offset: Annotated[int, Query(ge=0)] = 0
    ) -> list[FlaggedPair]:
        """Return flagged pairs with their texts, a thousand from this place on."""
        return await in_thread(studies.flagged, run_id, offset)

    return router


def _running(desk: Desk, send: Send, tokens: Tokens) -> APIRouter:
    """Return what spends money, or ends the spending."""
    router = APIRouter(dependencies=[Depends(tokens.may_run)])

    @router.post("/suites")
    async def keep_suite(suite: Suite) -> Kept:
        return Kept(hash=await in_thread(desk.keep, suite))

    @router.post("/runs", status_code=201)
    async def start_run(asked: RunRequest) -> Started:
        wanted = await in_thread(desk.run_for, asked)
        opening = await in_thread(desk.opening_of, wanted)
        if opening is not None:
            await send(wanted)
        return Started(run=wanted, opening=opening or 0)

    @router.post("/interpretations", status_code=202)
    async def interpret(asked: BriefRequest) -> Interpretation:
        brief = await in_thread(desk.brief_for, asked)
        if (found := await in_thread(desk.evaluation, brief.id)) is None:
            await send(brief)
        return Interpretation(brief_id=brief.id, evaluation=found)

    @router.post("/runs/{run_id}/cancel", status_code=202)
    async def cancel_run(run_id: str) -> Cancellation:
        cancellation = await in_thread(desk.cancellation_of, run_id)
        await send(cancellation)
        return cancellation

    return router


async def _news(desk: Desk, run_id: str, opening: int) -> AsyncIterator[Progress]:
    last: Progress | None = None
    while last is None or last.stand not in ENDED:
        now = await in_thread(desk.progress, run_id)
        if now != last and now.opening >= opening:
            last = now
            yield now
        await asyncio.sleep(LOOK_EVERY_S)
