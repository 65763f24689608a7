"""The routes of two runs side by side."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.dashboard.rendering import csv_file, page
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.presentation.run_comparison import compared_runs, compared_table

MOST_RUNS = 25
MOST_COMPARED = 60
NAME = Query(max_length=300)


def comparison_routes(runs: RunQueries, tokens: Tokens) -> APIRouter:
    """Return the page of two runs, and its table as a file."""
    router = APIRouter(dependencies=[Depends(tokens.signed_in)])

    @router.get("/compare")
    def show_comparison(
        before: Annotated[str, NAME] = "", after: Annotated[str, NAME] = ""
    ) -> HTMLResponse:
        known = runs.latest(MOST_RUNS)
        found = None
        if before and after:
            found = compared_runs(runs.diagnoses(before), runs.diagnoses(after))
        return page(
            "compare.html",
            before=before,
            after=after,
            choices=[
                (each.run_id, f"{each.suite}, {each.at:%Y-%m-%d %H:%M}, {', '.join(each.targets)}")
                for each in known
            ],
            found=found,
            table=compared_table(found, MOST_COMPARED) if found else None,
        )

    @router.get("/compare.csv")
    def download_comparison(before: Annotated[str, NAME], after: Annotated[str, NAME]) -> Response:
        found = compared_runs(runs.diagnoses(before), runs.diagnoses(after))
        return csv_file(compared_table(found), "compared")

    return router
