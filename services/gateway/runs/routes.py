"""The routes of runs, their results and their interpretations."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.sse import EventSourceResponse

from services.gateway.auth import Tokens
from services.gateway.runs.commands import RunCommands
from services.gateway.runs.queries import RunQueries
from services.gateway.runs.requests import BriefRequest, RunRequest
from services.gateway.runs.study_queries import StudyQueries
from services.gateway.runs.study_views import FlaggedPair, StudyResults
from services.gateway.runs.views import ENDED, Interpretation, RunProgress, StartedRun, StoredSuite
from shared.contracts import Assessment, Brief, Cancellation, Diagnosis, Purpose, Run, Suite
from shared.runtime.blocking import in_thread

Send = Callable[[Run | Cancellation | Brief], Awaitable[None]]
POLL_EVERY_S = 0.3
MAX_RUNS = 10_000


def run_routes(
    queries: RunQueries, studies: StudyQueries, commands: RunCommands, send: Send, tokens: Tokens
) -> APIRouter:
    """Return the routes of runs."""
    router = APIRouter(prefix="/v1")
    router.include_router(_study_routes(studies, tokens))
    router.include_router(_read_routes(queries, tokens))
    router.include_router(_write_routes(commands, queries, send, tokens))
    return router


def _read_routes(queries: RunQueries, tokens: Tokens) -> APIRouter:
    """Return the routes that only read."""
    router = APIRouter(dependencies=[Depends(tokens.may_read)])

    @router.get("/runs")
    async def list_runs(
        last: Annotated[int, Query(ge=1, le=MAX_RUNS)] = 100, purpose: Purpose = Purpose.STUDY
    ) -> list[RunProgress]:
        """Return the latest runs; rounds of monitors and windows of traffic by their purpose."""
        return await in_thread(queries.latest, last, purpose)

    @router.get("/runs/{run_id}")
    async def show_run(run_id: str) -> RunProgress:
        return await in_thread(queries.progress, run_id)

    @router.get("/runs/{run_id}/events", response_class=EventSourceResponse)
    async def follow_run(
        found: Annotated[RunProgress, Depends(show_run)], opening: int = 0
    ) -> AsyncIterator[RunProgress]:
        """Return the run's progress whenever it changes, until it has ended.

        With `opening`, events of earlier openings are left out: the run is about to be resumed.
        """
        async for progress in _progress_events(queries, found.run_id, opening):
            yield progress

    @router.get("/runs/{run_id}/diagnoses")
    async def show_diagnoses(run_id: str) -> list[Diagnosis]:
        return await in_thread(queries.diagnoses, run_id)

    @router.get("/runs/{run_id}/assessments")
    async def show_assessments(run_id: str) -> list[Assessment]:
        return await in_thread(queries.assessments, run_id)

    @router.get("/interpretations/{brief_id}")
    async def show_interpretation(brief_id: str) -> Interpretation:
        found = await in_thread(queries.evaluation, brief_id)
        return Interpretation(brief_id=brief_id, evaluation=found)

    return router


def _study_routes(studies: StudyQueries, tokens: Tokens) -> APIRouter:
    """Return the routes that show the results of studies with pairs."""
    router = APIRouter(dependencies=[Depends(tokens.may_read)])

    @router.get("/runs/{run_id}/studies")
    async def show_studies(run_id: str) -> StudyResults:
        """Return scores, pairs, judges and the comparisons of models."""
        return await in_thread(studies.results, run_id)

    @router.get("/runs/{run_id}/flagged")
    async def show_flagged(
        run_id: str, offset: Annotated[int, Query(ge=0)] = 0
    ) -> list[FlaggedPair]:
        """Return flagged pairs with their texts, at most a thousand, from an offset."""
        return await in_thread(studies.flagged, run_id, offset)

    return router


def _write_routes(
    commands: RunCommands, queries: RunQueries, send: Send, tokens: Tokens
) -> APIRouter:
    """Return the routes that spend money or end the spending."""
    router = APIRouter(dependencies=[Depends(tokens.may_run)])

    @router.post("/suites")
    async def keep_suite(suite: Suite) -> StoredSuite:
        return StoredSuite(hash=await in_thread(commands.keep_suite, suite))

    @router.post("/runs", status_code=201)
    async def start_run(request: RunRequest) -> StartedRun:
        run = await in_thread(commands.run_for, request)
        opening = await in_thread(commands.opening_of, run)
        if opening is not None:
            await send(run)
        return StartedRun(run=run, opening=opening or 0)

    @router.post("/interpretations", status_code=202)
    async def interpret(request: BriefRequest) -> Interpretation:
        brief = await in_thread(commands.brief_for, request)
        if (found := await in_thread(queries.evaluation, brief.id)) is None:
            await send(brief)
        return Interpretation(brief_id=brief.id, evaluation=found)

    @router.post("/runs/{run_id}/cancel", status_code=202)
    async def cancel_run(run_id: str) -> Cancellation:
        cancellation = await in_thread(commands.cancellation_of, run_id)
        await send(cancellation)
        return cancellation

    return router


async def _progress_events(
    queries: RunQueries, run_id: str, opening: int
) -> AsyncIterator[RunProgress]:
    last: RunProgress | None = None
    while last is None or last.stand not in ENDED:
        now = await in_thread(queries.progress, run_id)
        if now != last and now.opening >= opening:
            last = now
            yield now
        await asyncio.sleep(POLL_EVERY_S)
