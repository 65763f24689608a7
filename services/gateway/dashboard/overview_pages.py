"""The overview, and pages on operation: alarms, audit trail, extractors, traffic."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from xml.etree.ElementTree import Element

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.dashboard.rendering import LIVE, TABLES, csv_file, page
from biaswatch.services.gateway.monitors.queries import TREND_ROUNDS, MonitorQueries
from biaswatch.services.gateway.runs.studies import MAX_SCORED_QUESTIONS, StudyQueries
from biaswatch.services.gateway.status import DAY, alarm_items, status_queries
from biaswatch.shared.contracts import (
    Alarm,
    AuditEntry,
    Brief,
    Estimate,
    Monitor,
    Right,
    Round,
    Run,
    comparison_titles,
)
from biaswatch.shared.presentation.live_numbers import live_overview
from biaswatch.shared.presentation.names import is_about_a_run, kind_of
from biaswatch.shared.presentation.operation_tables import (
    TrafficSource,
    audit_table,
    extractors_table,
    own_bias_table,
    traffic_table,
    unwatched_table,
)
from biaswatch.shared.presentation.overview import RunCost, RunScores, overview_tiles, runs_table
from biaswatch.shared.presentation.slopes import sparkline
from biaswatch.shared.presentation.svg import gap_text
from biaswatch.shared.requests.monitor_views import MonitorStatus
from biaswatch.shared.requests.run_views import RunProgress
from biaswatch.shared.store import Store
from biaswatch.shared.store.audit import AuditFilter

RELOAD_S = 30
MAX_RUNS = 25
MAX_SPARKS = 20
"""Monitors with a small chart."""
TABLE_WINDOWS = 24
MAX_ENTRIES = 200
SPENDING_ROUNDS = 10
"""Last rounds of a monitor whose spending is shown."""
SUPPLIED_REPORT = "a given report"
"""Name of an interpretation that no model wrote."""
TOO_MANY_QUESTIONS = "of more questions than a page computes; `biaswatch show` prints them"
NOT_COMPUTED = "not computed yet: its page shows them, and so does this one when it is loaded anew"
NAME = Query(max_length=300)


def names_of(entries: Iterable[AuditEntry], store: Store) -> dict[str, str]:
    """Return the names of the runs and interpretations of audit entries by id, if they exist.

    It blocks, so call it in a thread.
    """
    entries = list(entries)
    runs = {entry.subject for entry in entries if is_about_a_run(entry)}
    briefs = {entry.subject for entry in entries if kind_of(entry) == "interpretation"}
    names = {run.id: run.suite for run in store.records.get(Run, runs)}
    for brief in store.records.get(Brief, briefs):
        writer = None if brief.report else brief.writer
        names[brief.id] = writer.name if writer else SUPPLIED_REPORT
    return names


@dataclass(frozen=True)
class MonitorRounds:
    """The last rounds of a monitor."""

    rounds: int
    spent: RunCost
    """Their total spending."""
    began: Round | None
    """The round that began their epoch; None if it is the first."""
    began_at: datetime | None
    """When it was; for traffic, the beginning of the window."""


@dataclass(frozen=True)
class OverviewQueries:
    """Blocking queries of the platform's pages; call them in a thread."""

    store: Store
    monitors: MonitorQueries

    def spent(self, runs: Iterable[RunProgress]) -> dict[str, RunCost]:
        """Return the spending of runs."""
        spending = self.store.calls.spending(run.run_id for run in runs)
        return {run_id: RunCost(spent.tokens, spent.cost) for run_id, spent in spending.items()}

    def rounds(self, monitor: Monitor) -> MonitorRounds | None:
        """Return the spending of a monitor's last rounds, and the beginning of their epoch."""
        latest = self.store.rounds.latest(Round, monitor, SPENDING_ROUNDS)
        if not latest:
            return None
        spending = self.store.calls.spending([round_.run_id for round_ in latest]).values()
        spent = RunCost(sum(s.tokens for s in spending), sum(s.cost for s in spending))
        began_with = latest[-1].began_with
        first = self.store.rounds.get(monitor, began_with) if began_with else None
        return MonitorRounds(len(latest), spent, first, self._began_at(first))

    def _began_at(self, first: Round | None) -> datetime | None:
        if first is None:
            return None
        run = next(self.store.records.get(Run, [first.run_id]), None)
        return run.window.begins if run and run.window else first.at

    def sparks(self, statuses: Sequence[MonitorStatus]) -> dict[str, Element | None]:
        """Return the leading gap of each monitor over time; of the first ones of a long list."""
        definitions = self.monitors.latest()
        shown = [(definitions[status.name], status) for status in statuses[:MAX_SPARKS]]
        trends = self.monitors.trends(shown)
        return {status.name: _spark(status, trends.get(status.name, [])) for status in statuses}

    def sources(self) -> list[TrafficSource]:
        """Return the watched live systems."""
        monitors = self.monitors.latest()
        return [
            TrafficSource(
                status.name,
                status.target,
                status.state,
                self.store.window_answers.accounts(status.monitor_id),
                self.monitors.windows_of(monitors[status.name], TABLE_WINDOWS),
            )
            for status in self.monitors.statuses()
            if monitors[status.name].plan.traffic is not None
        ]


def _spark(status: MonitorStatus, gaps: Sequence[Estimate]) -> Element | None:
    if status.leading is None or not gaps:
        return None
    title = f"{status.leading.title}, last {len(gaps)} rounds: now {gap_text(status.leading.gap)}"
    return sparkline(title, gaps, status.leading.tolerance, status.word)


def scored_runs(runs: Iterable[RunProgress], studies: StudyQueries) -> dict[str, RunScores]:
    """Return the bias scores of runs, or why they are not shown.

    Scores that are not cached are computed for a limited number of questions per page.
    """
    scored, budget = {}, MAX_SCORED_QUESTIONS
    for run in runs:
        if not run.ended:
            continue
        cached = studies.has_cached_scores(run)
        if run.probes > (MAX_SCORED_QUESTIONS if cached else budget):
            too_many = run.probes > MAX_SCORED_QUESTIONS
            if studies.is_scored(run.run_id):
                scored[run.run_id] = RunScores((), TOO_MANY_QUESTIONS if too_many else NOT_COMPUTED)
        elif scores := studies.scores(run):
            scored[run.run_id] = RunScores(scores)
            budget -= 0 if cached else run.probes
    return scored


def router(ctx: GatewayContext, studies: StudyQueries) -> APIRouter:
    """Return the pages of the platform as a whole."""
    router = APIRouter(dependencies=[Depends(ctx.tokens.signed_in)])
    status = status_queries(ctx)
    monitors = status.monitors
    overview = OverviewQueries(ctx.store, monitors)

    @router.get("/")
    def show_overview(
        caller: Annotated[Caller, Depends(ctx.tokens.signed_in)],
        about: Annotated[str, NAME] = "",
        *,
        live: bool = False,
    ) -> HTMLResponse:
        runs = status.runs.latest(MAX_RUNS, about=about, found=True)
        statuses = monitors.statuses()
        raised, changes = status.raised(), status.changes()
        spent = status.spending_since(now() - DAY)
        return page(
            "overview.html",
            scripts=(LIVE, TABLES),
            about=about,
            may_start=caller.may(Right.RUN),
            shape=live_overview(runs, statuses, (alarm.id for alarm in raised)).shape,
            reload_s=RELOAD_S if live else None,
            live=live,
            alarms=raised,
            items=alarm_items(ctx.store, [alarm.id for alarm in raised]),
            changes=changes,
            titles=_titles(monitors, changes),
            troubles=status.troubles(),
            monitors=statuses,
            sparks=overview.sparks(statuses),
            trend_rounds=TREND_ROUNDS,
            tiles=overview_tiles(len(raised), statuses, runs, spent),
            runs=runs_table(runs, overview.spent(runs), scored_runs(runs, studies)),
            now=now(),
        )

    @router.get("/audit")
    def show_audit(
        caller: Annotated[Caller, Depends(ctx.tokens.signed_in)],
        about: Annotated[str, NAME] = "",
        by: Annotated[str, NAME] = "",
    ) -> HTMLResponse:
        entries = None
        if caller.may(Right.ADMINISTER):
            latest = ctx.store.audit.latest(MAX_ENTRIES, AuditFilter(about or None, by or None))
            entries = audit_table(latest, names_of(latest, ctx.store))
        return page(
            "audit.html", scripts=(TABLES,), entries=entries, role=caller.role, about=about, by=by
        )

    router.include_router(_source_routes(ctx.store, overview))
    return router


def _titles(monitors: MonitorQueries, alarms: Iterable[Alarm]) -> dict[tuple[str, str], str]:
    """Return titles of the comparisons of alarms, by monitor and comparison."""
    known = monitors.latest()
    names = {alarm.monitor for alarm in alarms} & known.keys()
    return {
        (name, key): title
        for name in names
        for key, title in comparison_titles(known[name].plan).items()
    }


def _source_routes(store: Store, overview: OverviewQueries) -> APIRouter:
    """Return the pages of extractors and of live systems."""
    router = APIRouter()

    @router.get("/extractors")
    def show_extractors() -> HTMLResponse:
        extractors = store.extractors.ever()
        own_gaps = [
            (extractor, gap)
            for extractor in extractors
            for gap in store.calibrations.find(extractor.name, extractor.version)
        ]
        return page(
            "extractors.html",
            scripts=(TABLES,),
            extractors=extractors_table(extractors),
            own=own_bias_table(own_gaps),
        )

    @router.get("/extractors.csv")
    def download_extractors() -> Response:
        return csv_file(extractors_table(store.extractors.ever()), "extractors")

    @router.get("/traffic")
    def show_traffic() -> HTMLResponse:
        return page(
            "traffic.html",
            scripts=(TABLES,),
            sources=traffic_table(overview.sources()),
            unwatched=unwatched_table(store.unwatched_answers.read()),
        )

    @router.get("/traffic.csv")
    def download_traffic() -> Response:
        return csv_file(traffic_table(overview.sources()), "traffic")

    return router
