"""The routes of answers and measurements, page by page."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from biaswatch.services.gateway.archived_answers import AnswersInStore
from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.exports.queries import ExportFilter, ExportQueries
from biaswatch.shared.requests.export_views import AnswersPage, FeaturesPage, MonitorRun


def export_routes(queries: ExportQueries, in_store: AnswersInStore, tokens: Tokens) -> APIRouter:
    """Return the routes of what is exported."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(tokens.may_read)])

    here = [Depends(in_store)]

    @router.get("/runs/{run_id}/responses", dependencies=here)
    def responses(run_id: str, asked: Annotated[ExportFilter, Query()]) -> AnswersPage:
        """Return some answers of a run with their questions; texts where the token may read them.

        The order never changes, so `after` takes the next page. Of a run with a suite, answers that
        have not come have their entry too.
        """
        return queries.answers(run_id, asked)

    @router.get("/runs/{run_id}/features", dependencies=here)
    def features(run_id: str, asked: Annotated[ExportFilter, Query()]) -> FeaturesPage:
        """Return what every extractor read in the answers of the same page, with its version."""
        return queries.features(run_id, asked)

    @router.get("/monitors/{name}/runs")
    def runs_of_monitor(name: str, since: datetime | None = None) -> list[MonitorRun]:
        """Return the runs of a monitor's rounds, or of its windows of traffic, the first first."""
        return queries.runs(name, since)

    return router
