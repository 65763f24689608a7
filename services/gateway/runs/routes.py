"""The routes of runs, their results and their interpretations."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.sse import EventSourceResponse

from biaswatch.services.gateway.archived_answers import AnswersInStore
from biaswatch.services.gateway.auth import CallerAudit, Tokens
from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.services.gateway.openapi import body_of
from biaswatch.services.gateway.runs.commands import RunCommands, received_suite, started_run
from biaswatch.services.gateway.runs.measurements import GroupValueQueries, MeasurementQueries
from biaswatch.services.gateway.runs.provenance import ProvenanceQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.runs.studies import ImpactQueries, StudyQueries
from biaswatch.services.gateway.stream_limits import Followers
from biaswatch.shared.contracts import AuditAction, Brief, Cancellation, Run, Suite
from biaswatch.shared.requests.exports import AnswerMeasurements
from biaswatch.shared.requests.run_views import (
    ENDED,
    Interpretation,
    ResumedTarget,
    RunImpact,
    RunProgress,
    StartedRun,
    StoredSuite,
)
from biaswatch.shared.requests.runs import BriefRequest, ImpactRequest, ResumeRequest, RunRequest
from biaswatch.shared.runtime.blocking import in_thread

Send = Callable[[Run | Cancellation | Brief], Awaitable[None]]


def run_routes(
    queries: RunQueries,
    studies: StudyQueries,
    impact: ImpactQueries,
    commands: RunCommands,
    in_store: AnswersInStore,
    send: Send,
    tokens: Tokens,
    audit: CallerAudit,
) -> APIRouter:
    """Return the routes of runs."""
    router = APIRouter(prefix="/v1")
    router.include_router(_read_routes(queries, studies, impact, in_store, tokens))
    router.include_router(_write_routes(commands, queries, send, tokens, audit))
    return router


def _read_routes(
    queries: RunQueries,
    studies: StudyQueries,
    impact: ImpactQueries,
    in_store: AnswersInStore,
    tokens: Tokens,
) -> APIRouter:
    """Return the routes that only read."""
    router, followers = APIRouter(dependencies=[Depends(tokens.may_read)]), Followers()
    for path, show in (
        ("/runs", queries.latest),
        ("/runs/{run_id}", queries.progress),
        ("/runs/{run_id}/diagnoses", queries.diagnoses),
        ("/runs/{run_id}/assessments", queries.assessments),
        ("/runs/{run_id}/studies", studies.results),
        ("/interpretations/{brief_id}", queries.interpretation),
        ("/suites/{suite_hash}", queries.suite),
        ("/targets/paused", queries.paused_targets),
    ):
        router.add_api_route(path, show)
    here = [Depends(in_store)]
    router.add_api_route("/runs/{run_id}/flagged", studies.flagged, dependencies=here)

    @router.get("/runs/{run_id}/impact-ratios", dependencies=here)
    def impact_ratios(run_id: str, asked: Annotated[ImpactRequest, Query()]) -> list[RunImpact]:
        """Return selection or scoring rates and impact ratios, as Local Law 144 wants them."""
        return impact.impact(run_id, asked)

    async def counted() -> AsyncIterator[None]:
        """Count a follower until the request ends: a stream may be left without being ended."""
        with followers.one_more():
            yield

    @router.get(
        "/runs/{run_id}/events", response_class=EventSourceResponse, dependencies=[Depends(counted)]
    )
    async def follow_run(
        found: Annotated[RunProgress, Depends(queries.progress)], opening: int = 0
    ) -> AsyncIterator[RunProgress]:
        """Return the run's progress whenever it changes, until it has ended.

        With `opening`, events of earlier openings are left out: the run is about to be resumed.
        """
        last: RunProgress | None = None
        while last is None or last.stand not in ENDED:
            now = await in_thread(queries.progress, found.run_id)
            if now != last and now.opening >= opening:
                last = now
                yield now
            await asyncio.sleep(followers.look_every_s)

    return router


def run_background_routes(
    provenances: ProvenanceQueries, values: GroupValueQueries, tokens: Tokens
) -> APIRouter:
    """Return the routes of what stands behind findings: their provenance, and values by group."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(tokens.may_read)])
    router.add_api_route("/runs/{run_id}/provenance", provenances.provenance)
    router.add_api_route("/runs/{run_id}/diagnoses/{diagnosis_id}/values", values.of_finding)
    return router


def measurement_routes(
    queries: MeasurementQueries, in_store: AnswersInStore, tokens: Tokens
) -> APIRouter:
    """Return the routes of what was measured of a run, answer by answer."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(tokens.may_read), Depends(in_store)])
    router.add_api_route("/runs/{run_id}/analysis", queries.analysis)

    @router.get("/runs/{run_id}/measurements")
    async def measurements(
        pages: Annotated[Iterator[list[AnswerMeasurements]], Depends(queries.pages)],
    ) -> AsyncIterator[AnswerMeasurements]:
        """Return what was measured of each answer, one JSON object a line, without any text.

        The order is that of the run's plan and never changes, so `offset` and `limit` take pages,
        and a reader whose connection broke goes on from the lines it has. Answers that have not
        arrived have their line too. `/runs/{run_id}/analysis` says how many there are.
        """
        none: list[AnswerMeasurements] = []
        while some := await in_thread(next, pages, none):
            for each in some:
                yield each

    return router


def _write_routes(
    commands: RunCommands, queries: RunQueries, send: Send, tokens: Tokens, audit: CallerAudit
) -> APIRouter:
    """Return the routes that spend money or end the spending."""
    router = APIRouter(dependencies=[Depends(tokens.may_run)], route_class=StrictRoute)

    @router.post("/suites", openapi_extra=body_of(Suite))
    async def keep_suite(request: Request) -> StoredSuite:
        """Store a suite and return its hash; a large one is read as it comes."""
        return await received_suite(request, commands)

    @router.post("/targets/resume")
    async def resume_target(request: ResumeRequest) -> ResumedTarget:
        """Let calls to a target that refused every one of them be tried again."""
        await in_thread(commands.paused_lanes, request)
        async with audit.act(AuditAction.TARGET_RESUME, request.target):
            return await in_thread(commands.resume_target, request)

    @router.post("/runs", status_code=201)
    async def start_run(request: RunRequest) -> StartedRun:
        """Start a run of a suite that is stored, or take it up again; the same plan is one run."""
        return await started_run(request, commands, send, audit)

    @router.post("/interpretations", status_code=202)
    async def interpret(request: BriefRequest) -> Interpretation:
        """Have statistics interpreted in writing; the same request has the same interpretation."""
        brief = await in_thread(commands.brief_for, request)
        async with audit.act(AuditAction.INTERPRETATION_START, brief.id, **_readers(brief)):
            found = await in_thread(commands.keep_brief, brief)
            if found.evaluation is None:
                await send(brief)
        return found

    @router.post("/runs/{run_id}/cancel", status_code=202)
    async def cancel_run(run_id: str) -> Cancellation:
        """End a run before its time; what is there is kept."""
        run = await in_thread(queries.run, run_id)
        async with audit.act(AuditAction.RUN_CANCEL, run.id, suite=run.suite):
            cancellation = await in_thread(commands.cancellation_of, run_id)
            await send(cancellation)
        return cancellation

    return router


def _readers(brief: Brief) -> dict[str, str]:
    """Return who writes and who judges, as the audit trail names an interpretation."""
    writer = {"writer": brief.writer.name} if brief.writer else {}
    judges = ", ".join(each.name for each in brief.judges)
    return writer | ({"judges": judges} if judges else {})
