"""The routes of the overview and of the platform's own pages."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.dashboard.overview_queries import OverviewQueries
from biaswatch.services.gateway.dashboard.rendering import csv_file, page
from biaswatch.services.gateway.dashboard.static_files import LIVE
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Alarm, comparison_titles
from biaswatch.shared.contracts.access import Right
from biaswatch.shared.presentation.latest_runs import runs_table
from biaswatch.shared.presentation.live_numbers import live_overview
from biaswatch.shared.presentation.operation_tables import (
    audit_table,
    extractors_table,
    own_bias_table,
    traffic_table,
    unwatched_table,
)
from biaswatch.shared.store.audit import AuditFilter

RELOAD_S = 30
MOST_RUNS = 25
NAME = Query(max_length=300)


def operation_routes(
    overview: OverviewQueries,
    runs: RunQueries,
    monitors: MonitorQueries,
    tokens: Tokens,
    now: Callable[[], datetime],
) -> APIRouter:
    """Return the pages of the platform as a whole."""
    router = APIRouter(dependencies=[Depends(tokens.signed_in)])
    router.include_router(_source_routes(overview))

    @router.get("/")
    def show_overview(
        caller: Annotated[Caller, Depends(tokens.signed_in)], *, live: bool = False
    ) -> HTMLResponse:
        latest, statuses = runs.latest(MOST_RUNS, found=True), monitors.statuses()
        standing, changes = overview.status.standing(), overview.status.changes()
        return page(
            "overview.html",
            scripts=(LIVE,),
            may_start=caller.may(Right.RUN),
            shape=live_overview(latest, statuses, (each.id for each in standing)).shape,
            reload_s=RELOAD_S if live else None,
            live=live,
            alarms=standing,
            changes=changes,
            titles=_titles(monitors, changes),
            troubles=overview.status.troubles(),
            monitors=statuses,
            runs=runs_table(latest, overview.spent(latest), overview.scored(latest)),
            now=now(),
        )

    @router.get("/audit")
    def show_audit(
        caller: Annotated[Caller, Depends(tokens.signed_in)],
        about: Annotated[str, NAME] = "",
        by: Annotated[str, NAME] = "",
    ) -> HTMLResponse:
        may = caller.may(Right.ADMINISTER)
        found = overview.audit(AuditFilter(about or None, by or None)) if may else []
        return page(
            "audit.html",
            entries=audit_table(found, overview.audited_names(found)) if may else None,
            role=caller.role,
            about=about,
            by=by,
        )

    return router


def _titles(monitors: MonitorQueries, alarms: Iterable[Alarm]) -> dict[tuple[str, str], str]:
    """Return what alarms are about, by monitor and comparison, of monitors that are there."""
    known = monitors.latest()
    there = {each.monitor for each in alarms} & known.keys()
    return {
        (name, key): title
        for name in there
        for key, title in comparison_titles(known[name].plan).items()
    }


def _source_routes(overview: OverviewQueries) -> APIRouter:
    """Return the pages of what measures, and of what sends in answers."""
    router = APIRouter()

    @router.get("/extractors")
    def show_extractors() -> HTMLResponse:
        statuses = overview.extractors()
        own = own_bias_table(overview.own_gaps(statuses))
        return page("extractors.html", extractors=extractors_table(statuses), own=own)

    @router.get("/extractors.csv")
    def download_extractors() -> Response:
        return csv_file(extractors_table(overview.extractors()), "extractors")

    @router.get("/traffic")
    def show_traffic() -> HTMLResponse:
        return page(
            "traffic.html",
            sources=traffic_table(overview.sources()),
            unwatched=unwatched_table(overview.unwatched()),
        )

    @router.get("/traffic.csv")
    def download_traffic() -> Response:
        return csv_file(traffic_table(overview.sources()), "traffic")

    return router
