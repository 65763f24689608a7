"""Routes of runs, their results and their interpretations."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.sse import EventSourceResponse

from biaswatch.services.gateway.bodies import run_streams
from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.services.gateway.openapi import body_of
from biaswatch.services.gateway.runs.commands import cancel, describe_run, run_commands, start_run
from biaswatch.services.gateway.runs.group_values import GroupValueQueries
from biaswatch.services.gateway.runs.impact import ImpactQueries
from biaswatch.services.gateway.runs.measurements import MeasurementQueries
from biaswatch.services.gateway.runs.provenance import ProvenanceQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.runs.studies import StudyQueries
from biaswatch.services.gateway.runs.suite_upload import receive_suite
from biaswatch.shared.contracts import AuditAction, Brief, Cancellation, Right, Suite
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
from biaswatch.shared.requests.runs import (
    BriefRequest,
    ImpactRequest,
    ResumeRequest,
    RunDescription,
    RunRequest,
)
from biaswatch.shared.runtime.threads import in_thread


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of runs."""
    router = APIRouter(prefix="/v1")
    for routes in (_read_routes, _stream_routes, _write_routes):
        router.include_router(routes(ctx))
    return router


def _read_routes(ctx: GatewayContext) -> APIRouter:
    router = APIRouter(dependencies=[ctx.tokens.require(Right.READ)])
    queries = ctx.queries(RunQueries)
    studies, impact = StudyQueries(ctx.store, queries), ImpactQueries(ctx.store, queries)
    unarchived = [Depends(ctx.require_unarchived)]
    for path, read in (
        ("/runs", queries.latest),
        ("/runs/{run_id}", queries.progress),
        ("/runs/{run_id}/diagnoses", queries.diagnoses),
        ("/runs/{run_id}/assessments", queries.assessments),
        ("/runs/{run_id}/studies", studies.results),
        ("/interpretations/{brief_id}", queries.interpretation),
        ("/suites/{suite_hash}", queries.suite),
        ("/targets/paused", queries.paused_targets),
        ("/runs/{run_id}/provenance", ProvenanceQueries(ctx.store, queries).provenance),
        (
            "/runs/{run_id}/diagnoses/{diagnosis_id}/values",
            GroupValueQueries(ctx.store, queries).of_finding,
        ),
    ):
        router.add_api_route(path, read)
    router.add_api_route("/runs/{run_id}/flagged", studies.flagged, dependencies=unarchived)

    @router.get("/runs/{run_id}/impact-ratios", dependencies=unarchived)
    def impact_ratios(run_id: str, query: Annotated[ImpactRequest, Query()]) -> list[RunImpact]:
        """Return selection or scoring rates and impact ratios, as Local Law 144 wants them."""
        return impact.impact(run_id, query)

    return router


def _stream_routes(ctx: GatewayContext) -> APIRouter:
    """Return the routes whose responses are streams."""
    router, streams = APIRouter(dependencies=[ctx.tokens.require(Right.READ)]), run_streams()
    queries = ctx.queries(RunQueries)
    measurements = MeasurementQueries(ctx.store, queries)
    unarchived = [Depends(ctx.require_unarchived)]
    router.add_api_route("/runs/{run_id}/analysis", measurements.analysis, dependencies=unarchived)

    async def counted() -> AsyncIterator[None]:
        """Count a stream until its request ends, also if it is abandoned."""
        with streams.counted():
            yield

    @router.get(
        "/runs/{run_id}/events", response_class=EventSourceResponse, dependencies=[Depends(counted)]
    )
    async def follow_run(
        first: Annotated[RunProgress, Depends(queries.progress)], opening: int = 0
    ) -> AsyncIterator[RunProgress]:
        """Return the run's progress whenever it changes, until it has ended.

        With `opening`, events of earlier openings are left out: the run is about to be resumed.
        """
        last: RunProgress | None = None
        while last is None or last.state not in ENDED:
            progress = await in_thread(queries.progress, first.run_id)
            if progress != last and progress.opening >= opening:
                last = progress
                yield progress
            await asyncio.sleep(streams.poll_s)

    @router.get("/runs/{run_id}/measurements", dependencies=unarchived)
    async def measurements_of_run(
        pages: Annotated[Iterator[list[AnswerMeasurements]], Depends(measurements.pages)],
    ) -> AsyncIterator[AnswerMeasurements]:
        """Return the measurements of each answer, one JSON object a line, without any text.

        The order is that of the run's plan and never changes, so `offset` and `limit` take pages,
        and a reader whose connection broke goes on from the lines it has. Answers that have not
        arrived have their line too. `/runs/{run_id}/analysis` says how many there are.
        """
        end: list[AnswerMeasurements] = []
        while page := await in_thread(next, pages, end):
            for answer in page:
                yield answer

    return router


def _write_routes(ctx: GatewayContext) -> APIRouter:
    """Return the routes that start and end paid work."""
    router = APIRouter(dependencies=[ctx.tokens.require(Right.RUN)], route_class=StrictRoute)
    queries, commands = ctx.queries(RunQueries), run_commands(ctx)

    @router.post("/suites", openapi_extra=body_of(Suite))
    async def keep_suite(request: Request) -> StoredSuite:
        """Store a suite and return its hash; a large one is read as it comes."""
        return await receive_suite(request, commands)

    @router.post("/targets/resume")
    async def resume_target(request: ResumeRequest) -> ResumedTarget:
        """Let calls to a target that refused every one of them be tried again."""
        await in_thread(commands.paused_lanes, request)
        async with ctx.audit.act(AuditAction.TARGET_RESUME, request.target):
            return await in_thread(commands.resume_target, request)

    @router.post("/runs", status_code=201)
    async def start(request: RunRequest) -> StartedRun:
        """Start a run of a stored suite, or resume it; the same plan is one run."""
        return await start_run(request, commands, ctx)

    @router.post("/runs/{run_id}/description")
    async def describe(run_id: str, description: RunDescription) -> RunProgress:
        """Replace the name, the tags and the note of a run."""
        return await describe_run(run_id, description, commands, ctx)

    @router.post("/interpretations", status_code=202)
    async def interpret(request: BriefRequest) -> Interpretation:
        """Have statistics interpreted in writing; the same request has the same interpretation."""
        brief = await in_thread(commands.brief_for, request)
        async with ctx.audit.act(AuditAction.INTERPRETATION_START, brief.id, **_models(brief)):
            interpretation = await in_thread(commands.store_brief, brief)
            if interpretation.evaluation is None:
                await ctx.send(brief)
        return interpretation

    @router.post("/runs/{run_id}/cancel", status_code=202)
    async def cancel_run(run_id: str) -> Cancellation:
        """Cancel a run; its answers are kept."""
        run = await in_thread(queries.run, run_id)
        async with ctx.audit.act(AuditAction.RUN_CANCEL, run.id, suite=run.suite):
            return await cancel(run, ctx)

    return router


def _models(brief: Brief) -> dict[str, str]:
    """Return writer and judges of an interpretation for the audit trail."""
    writer = {"writer": brief.writer.name} if brief.writer else {}
    judges = ", ".join(judge.name for judge in brief.judges)
    return writer | ({"judges": judges} if judges else {})
