"""The routes of a traffic monitor by stratum: a page, and its table as a file."""

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.dashboard.rendering import csv_file, page
from biaswatch.services.gateway.monitors.strata_queries import MOST_WINDOWS, StrataQueries
from biaswatch.shared.presentation.strata_tables import strata_plot, strata_table, table_of_one


def strata_routes(strata: StrataQueries, tokens: Tokens) -> APIRouter:
    """Return the page of a monitor's strata."""
    router = APIRouter(dependencies=[Depends(tokens.signed_in)])

    @router.get("/monitors/{name}/strata")
    def show_strata(name: str) -> HTMLResponse:
        found = strata.strata(name)
        return page(
            "strata.html",
            name=name,
            comparisons=[(each, strata_plot(each), table_of_one(each)) for each in found],
            most_windows=MOST_WINDOWS,
        )

    @router.get("/monitors/{name}/strata.csv")
    def download_strata(name: str) -> Response:
        return csv_file(strata_table(strata.strata(name)), "strata")

    return router
