"""The routes of labels: samples, labels, and what they make of a run's findings."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Depends

from biaswatch.services.gateway.archived_answers import AnswersInStore
from biaswatch.services.gateway.auth import CallerAudit, Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.services.gateway.labels.commands import LabelCommands, TakenLabels
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.shared.contracts import AuditAction, Label, LabelSample
from biaswatch.shared.requests.labels import (
    AcceptedLabels,
    LabelsRequest,
    SampleProgress,
    SampleRequest,
)
from biaswatch.shared.runtime.blocking import in_thread

Send = Callable[[Label | LabelSample], Awaitable[None]]


def label_routes(
    queries: LabelQueries,
    commands: LabelCommands,
    in_store: AnswersInStore,
    send: Send,
    tokens: Tokens,
    audit: CallerAudit,
) -> APIRouter:
    """Return the routes of labels."""
    router = APIRouter(prefix="/v1")
    router.include_router(_read_routes(queries, in_store, tokens))
    router.include_router(_write_routes(queries, commands, in_store, send, tokens, audit))
    return router


def _read_routes(queries: LabelQueries, in_store: AnswersInStore, tokens: Tokens) -> APIRouter:
    router = APIRouter(dependencies=[Depends(tokens.may_read)])
    for path, show in (
        ("/runs/{run_id}/corrections", queries.corrections),
        ("/runs/{run_id}/labels", queries.labels),
        ("/runs/{run_id}/labels/plan", queries.plan),
        ("/runs/{run_id}/labels/samples", queries.samples),
    ):
        router.add_api_route(path, show)
    path = "/runs/{run_id}/labels/samples/{sample_id}/tasks"
    router.add_api_route(path, queries.tasks, dependencies=[Depends(in_store)])
    return router


def _write_routes(
    queries: LabelQueries,
    commands: LabelCommands,
    in_store: AnswersInStore,
    send: Send,
    tokens: Tokens,
    audit: CallerAudit,
) -> APIRouter:
    router = APIRouter(dependencies=[Depends(tokens.may_run)], route_class=StrictRoute)
    may_run = Depends(tokens.may_run)

    @router.post("/runs/{run_id}/labels/samples", status_code=201, dependencies=[Depends(in_store)])
    async def draw_answers(run_id: str, request: SampleRequest) -> SampleProgress:
        """Draw answers that people are to label; the same request draws the same answers."""
        sample = await in_thread(commands.sample_for, run_id, request)
        number = f"{sample.extractor}.{sample.feature}"
        async with audit.act(AuditAction.LABELS_SAMPLE, run_id, number=number, sample=sample.id):
            await in_thread(commands.keep, [sample])
            await send(sample)
        return await in_thread(queries.sample, run_id, sample.id)

    @router.post("/runs/{run_id}/labels", status_code=202)
    async def take_labels(
        run_id: str, request: LabelsRequest, caller: Caller = may_run
    ) -> AcceptedLabels:
        """Take in what people said; a correction is a new label, and the last one holds.

        Labels in the names of others than the caller are in the audit trail.
        """
        taken = await in_thread(commands.taken, run_id, request, caller.name)
        others = {label.person for label in taken.new} - {caller.name}
        if not others:
            return await keep(run_id, request, taken)
        number = f"{request.extractor}.{request.feature}"
        counts = {"labels": str(len(taken.new)), "people": str(len(others))}
        async with audit.act(AuditAction.LABELS_IMPORT, run_id, number=number, **counts):
            return await keep(run_id, request, taken)

    async def keep(run_id: str, request: LabelsRequest, taken: TakenLabels) -> AcceptedLabels:
        kept = await in_thread(commands.keep_labels, run_id, request, taken)
        for label in kept.new:
            await send(label)
        return kept.accepted

    return router
