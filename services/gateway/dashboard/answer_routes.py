"""The routes of a run's answers: a page to search, a set's twins side by side, a file."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, StreamingResponse

from biaswatch.services.gateway.archived_answers import AnswersInStore
from biaswatch.services.gateway.auth import PAGE_HEADERS, Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.dashboard.answer_queries import AnswerQueries
from biaswatch.services.gateway.dashboard.rendering import page
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Run
from biaswatch.shared.presentation.answer_filters import ANY_REASON, AnswerFilter
from biaswatch.shared.presentation.answer_tables import (
    FILE_TITLES,
    file_rows,
    groups_of,
    label_of,
    readings_table,
    side_by_side,
)
from biaswatch.shared.presentation.page_tables import csv_text
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import PlannedProbes


def answer_routes(
    answers: AnswerQueries, runs: RunQueries, in_store: AnswersInStore, tokens: Tokens
) -> APIRouter:
    """Return the pages of answers; of archived ones they say so."""
    router = APIRouter(dependencies=[Depends(tokens.signed_in), Depends(in_store)])

    @router.get("/runs/{run_id}/answers")
    def show_answers(
        run_id: str,
        wanted: Annotated[AnswerFilter, Query()],
        caller: Annotated[Caller, Depends(tokens.signed_in)],
    ) -> HTMLResponse:
        run, planned = answers.planned(run_id)
        wanted = _allowed(wanted, caller)
        return page(
            "answers.html",
            run=run,
            planned=planned is not None,
            wanted=wanted,
            texts=caller.texts,
            found=answers.page(run, planned, wanted),
            choices=answers.choices(run, planned, _reasons(runs, run_id)),
        )

    @router.get("/runs/{run_id}/twins")
    def show_twins(
        run_id: str,
        wanted: Annotated[AnswerFilter, Query()],
        caller: Annotated[Caller, Depends(tokens.signed_in)],
        a: str = "",
        b: str = "",
    ) -> HTMLResponse:
        run, planned = answers.planned(run_id)
        first = {"target": wanted.target or run.targets[0].name}
        wanted = wanted.model_copy(
            update={**first, "scaffold": wanted.scaffold or run.scaffolds[0]}
        )
        twins = answers.twins(run, planned, wanted)
        return page(
            "twins.html",
            run=run,
            wanted=wanted,
            texts=caller.texts,
            pair=side_by_side(twins, a, b, texts=caller.texts),
            labels=[(label_of(each), groups_of(each)) for each in twins],
            readings=readings_table(twins),
        )

    @router.get("/runs/{run_id}/answers.csv")
    async def download_answers(
        run_id: str,
        wanted: Annotated[AnswerFilter, Query()],
        caller: Annotated[Caller, Depends(tokens.signed_in)],
    ) -> StreamingResponse:
        run, planned = await in_thread(answers.planned, run_id)
        lines = _lines(answers, run, planned, _allowed(wanted, caller))
        return StreamingResponse(
            lines,
            media_type="text/csv; charset=utf-8",
            headers={**PAGE_HEADERS, "Content-Disposition": "attachment; filename=answers.csv"},
        )

    return router


def _allowed(wanted: AnswerFilter, caller: Caller) -> AnswerFilter:
    """Return the filter without words: who may not read texts must not find out by asking."""
    return wanted if caller.texts else wanted.model_copy(update={"q": ""})


def _reasons(runs: RunQueries, run_id: str) -> list[str]:
    """Return why answers of a run are missing, as its findings say."""
    found = {
        reason
        for each in runs.diagnoses(run_id)
        for group in each.groups
        for reason in group.missing_reasons
    }
    return [ANY_REASON, *sorted(found - {ANY_REASON})]


def _lines(
    answers: AnswerQueries, run: Run, planned: PlannedProbes | None, wanted: AnswerFilter
) -> Iterator[str]:
    """Return the file in parts, so that no run has to fit into memory."""
    yield csv_text(FILE_TITLES, [])
    after: str | None = ""
    while after is not None:
        found = answers.page(run, planned, wanted.model_copy(update={"after": after}))
        yield csv_text([], file_rows(found.answers))
        after = found.after
