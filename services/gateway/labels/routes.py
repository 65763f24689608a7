"""Routes of labels: samples, labels, and findings corrected by them."""

from fastapi import APIRouter, Depends

from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.services.gateway.labels.commands import LabelCommands, store_and_send
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import AuditAction, Right
from biaswatch.shared.requests.labels import (
    AcceptedLabels,
    LabelsRequest,
    SampleProgress,
    SampleRequest,
)
from biaswatch.shared.runtime.threads import in_thread


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of labels."""
    runs = ctx.queries(RunQueries)
    queries = LabelQueries(ctx.store, runs)
    commands = LabelCommands(ctx.store, runs, queries, now)
    router = APIRouter(prefix="/v1")
    read, unarchived = ctx.tokens.require(Right.READ), Depends(ctx.require_unarchived)
    for path, endpoint, dependencies in (
        ("/runs/{run_id}/corrections", queries.corrections, [read]),
        ("/runs/{run_id}/labels", queries.labels, [read]),
        ("/runs/{run_id}/labels/plan", queries.plan, [read]),
        ("/runs/{run_id}/labels/samples", queries.samples, [read]),
        ("/runs/{run_id}/labels/samples/{sample_id}/tasks", queries.tasks, [read, unarchived]),
    ):
        router.add_api_route(path, endpoint, dependencies=dependencies)
    router.include_router(_write_routes(ctx, queries, commands))
    return router


def _write_routes(ctx: GatewayContext, queries: LabelQueries, commands: LabelCommands) -> APIRouter:
    router = APIRouter(dependencies=[ctx.tokens.require(Right.RUN)], route_class=StrictRoute)
    may_run, unarchived = ctx.tokens.require(Right.RUN), [Depends(ctx.require_unarchived)]

    @router.post("/runs/{run_id}/labels/samples", status_code=201, dependencies=unarchived)
    async def draw_answers(run_id: str, request: SampleRequest) -> SampleProgress:
        """Draw a sample of answers to label; the same request draws the same answers."""
        sample = await in_thread(commands.sample_for, run_id, request)
        number = f"{sample.extractor}.{sample.feature}"
        async with ctx.audit.act(
            AuditAction.LABELS_SAMPLE, run_id, number=number, sample=sample.id
        ):
            await in_thread(commands.store_records, [sample])
            await ctx.send(sample)
        return await in_thread(queries.sample, run_id, sample.id)

    @router.post("/runs/{run_id}/labels", status_code=202)
    async def take_labels(
        run_id: str, request: LabelsRequest, caller: Caller = may_run
    ) -> AcceptedLabels:
        """Accept labels of people; a correction is a new label, and the last one holds.

        Labels in the names of others than the caller are in the audit trail.
        """
        checked = await in_thread(commands.check_labels, run_id, request, caller.name)
        other_people = {label.person for label in checked.new} - {caller.name}
        if not other_people:
            return await store_and_send(run_id, request, checked, commands, ctx)
        number = f"{request.extractor}.{request.feature}"
        counts = {"labels": str(len(checked.new)), "people": str(len(other_people))}
        async with ctx.audit.act(AuditAction.LABELS_IMPORT, run_id, number=number, **counts):
            return await store_and_send(run_id, request, checked, commands, ctx)

    return router
