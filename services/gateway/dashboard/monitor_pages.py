"""Pages of a monitor, its strata and alarms, and their tables as files."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.dashboard.overview_pages import OverviewQueries
from biaswatch.services.gateway.dashboard.page_forms import PageForms, forms_with
from biaswatch.services.gateway.dashboard.rendering import (
    LIVE,
    MONITOR_CHARTS,
    PRINT,
    TABLES,
    UPLOT,
    UPLOT_STYLE,
    csv_file,
    page,
)
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.monitors.stored import no_monitor
from biaswatch.services.gateway.monitors.strata import MAX_WINDOWS, StrataQueries
from biaswatch.services.gateway.status import alarm_items
from biaswatch.shared.contracts import Monitor, MonitorState, comparison_titles, open_alarms_of
from biaswatch.shared.presentation.alarm_items import OUTCOMES, reliability
from biaswatch.shared.presentation.alarm_messages import message_of
from biaswatch.shared.presentation.charts import (
    Chart,
    ChartColumns,
    chart_columns,
    evidence_chart,
    gap_chart,
)
from biaswatch.shared.presentation.forests import monitor_forests
from biaswatch.shared.presentation.live_numbers import live_monitor
from biaswatch.shared.presentation.monitor_tables import (
    RANGES,
    accounts_table,
    alarm_end_sentence,
    evidence_table,
    histories_since,
    history_table,
    is_missing_without_finding,
    labelled_table,
    monitor_lead,
    strata_table,
    strata_table_of,
    unanswered_sentence,
    window_table,
)
from biaswatch.shared.presentation.plots import has_gaps, strata_plot
from biaswatch.shared.presentation.questions import question_remarks
from biaswatch.shared.requests.evidence import EvidenceView
from biaswatch.shared.requests.monitor_views import (
    History,
    MonitorView,
    anywhere_in_words,
    labelled_promise_in_words,
)

RELOAD_S = 30
MAX_CHARTS = 6
TABLE_WINDOWS = 24
MAX_TIMED_WINDOWS = 1000


def router(ctx: GatewayContext) -> APIRouter:
    """Return the pages of a monitor."""
    router = APIRouter(dependencies=[Depends(ctx.tokens.signed_in)])
    page_forms, monitors = forms_with(ctx.tokens), ctx.queries(MonitorQueries)
    overview = OverviewQueries(ctx.store, monitors)

    @router.get("/monitors/{name}")
    def show_monitor(
        name: str,
        forms: Annotated[PageForms, Depends(page_forms)],
        comparison: str = "",
        span: str = "",
        *,
        live: bool = False,
    ) -> HTMLResponse:
        monitor = monitors.monitor(name)
        view, titles = monitors.view(monitor), comparison_titles(monitor.plan)
        plotted = monitors.plotted(monitor, _chosen(monitor, view.evidence, comparison))
        windows = monitors.windows_of(monitor, TABLE_WINDOWS) if view.accounts else []
        shown = page(
            "monitor.html",
            scripts=(UPLOT_STYLE, UPLOT, MONITOR_CHARTS, LIVE, TABLES, PRINT),
            shape=live_monitor(view.status).shape,
            charts_at=_charts_address(name, comparison, span),
            forms=forms,
            reload_s=RELOAD_S if live else None,
            live=live,
            view=view,
            titles=titles,
            **_evidence_fields(view, titles),
            charts=_charts(_in_span(monitors, monitor, plotted, span), titles),
            comparison=comparison,
            span=span,
            spans=list(RANGES),
            accounts=accounts_table(view.accounts, windows) if view.accounts else None,
            strata=monitor.plan.traffic.matched_within if monitor.plan.traffic else (),
            rounds=overview.rounds(monitor),
            now=now(),
        )
        return forms.with_cookie(shown)

    @router.get("/monitors/{name}/charts.json")
    def read_charts(name: str, comparison: str = "", span: str = "") -> list[ChartColumns]:
        monitor = monitors.monitor(name)
        titles = comparison_titles(monitor.plan)
        chosen = _chosen(monitor, monitors.view(monitor).evidence, comparison)
        return [
            chart_columns(history, titles.get(history.comparison, history.comparison))
            for history in _in_span(monitors, monitor, monitors.plotted(monitor, chosen), span)
        ]

    @router.get("/monitors/{name}/alarms")
    def show_alarms(
        name: str, request: Request, forms: Annotated[PageForms, Depends(page_forms)]
    ) -> HTMLResponse:
        monitor = monitors.definition(name)
        if monitor is None or monitor.state is MonitorState.DELETED:
            raise no_monitor(name)
        alarms = monitors.alarms_of(monitor)
        items = alarm_items(ctx.store, [view.alarm.id for view in alarms])
        shown = page(
            "alarms.html",
            name=name,
            forms=forms,
            titles=comparison_titles(monitor.plan),
            alarms=alarms,
            standing={alarm.id for alarm in open_alarms_of(view.alarm for view in alarms).values()},
            items=items,
            reliability=reliability(items.values()),
            outcomes=OUTCOMES,
            messages={
                view.alarm.id: message_of(view.alarm, str(request.base_url)) for view in alarms
            },
            now=now(),
        )
        return forms.with_cookie(shown)

    router.include_router(_file_routes(ctx, monitors))
    return router


def _evidence_fields(view: MonitorView, titles: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a monitor's evidence and alarms."""
    evidence, merged = sorted(view.evidence, key=_urgency), view.status.merged
    measured = [part for part in evidence if not is_missing_without_finding(part)]
    is_over = view.status.ended is not None
    return {
        "evidence": evidence,
        "alarms": list(open_alarms_of(view.alarms).values()),
        "lead": monitor_lead(view),
        "forests": monitor_forests(view.status.name, evidence, titles),
        "comparisons": evidence_table(view.status.name, measured, titles),
        "unanswered": unanswered_sentence(evidence),
        "standing": [
            alarm_end_sentence(part, titles.get(part.comparison, part.comparison), ended=is_over)
            for part in evidence
            if part.standing
        ],
        "remarks": list(question_remarks(evidence, reasons=bool(view.status.suite))),
        "searched": any(part.change_searched for part in evidence),
        "total": len(measured),
        "labelled": labelled_table(view.labelled, view.evidence) if view.labelled else None,
        "labels_promise": labelled_promise_in_words(view.status.alpha),
        "window": window_table(view.window) if view.window else None,
        "anywhere": anywhere_in_words(merged, titles) if merged else None,
    }


def _charts(
    histories: Iterable[History], titles: Mapping[str, str]
) -> list[tuple[History, Chart, Chart]]:
    """Return the charts of each comparison that has a gap."""
    return [
        (history, gap_chart(history, title), evidence_chart(history, title))
        for history in histories
        if any(moment.gap.value is not None for moment in history.moments)
        for title in [titles.get(history.comparison, history.comparison)]
    ]


def _file_routes(ctx: GatewayContext, monitors: MonitorQueries) -> APIRouter:
    """Return the tables of a monitor as files, and the page of its strata."""
    router, strata = APIRouter(), StrataQueries(ctx.store, monitors)

    @router.get("/monitors/{name}/comparisons.csv")
    def download_comparisons(name: str) -> Response:
        monitor = monitors.monitor(name)
        evidence, titles = monitors.view(monitor).evidence, comparison_titles(monitor.plan)
        return csv_file(evidence_table(name, evidence, titles), "comparisons")

    @router.get("/monitors/{name}/labelled.csv")
    def download_labelled(name: str) -> Response:
        view = monitors.show(name)
        return csv_file(labelled_table(view.labelled, view.evidence), "labelled")

    @router.get("/monitors/{name}/history.csv")
    def download_history(name: str, span: str = "") -> Response:
        monitor = monitors.monitor(name)
        histories = _in_span(monitors, monitor, monitors.histories_of(monitor), span)
        return csv_file(history_table(histories, comparison_titles(monitor.plan)), "history")

    @router.get("/monitors/{name}/strata")
    def show_strata(name: str) -> HTMLResponse:
        return page(
            "strata.html",
            name=name,
            comparisons=[
                (view, strata_plot(view), strata_table_of(view), has_gaps(view))
                for view in strata.strata(name)
            ],
            most_windows=MAX_WINDOWS,
        )

    @router.get("/monitors/{name}/strata.csv")
    def download_strata(name: str) -> Response:
        return csv_file(strata_table(strata.strata(name)), "strata")

    return router


def _in_span(
    monitors: MonitorQueries, monitor: Monitor, histories: Sequence[History], span: str
) -> list[History]:
    """Return the part of some histories within a span of time; of traffic, by its windows."""
    longest = max((len(history.moments) for history in histories), default=0)
    ends = {}
    if monitor.plan.traffic is not None:
        ends = monitors.window_ends(monitor, min(longest, MAX_TIMED_WINDOWS))
    length = RANGES.get(span)
    return list(histories_since(histories, ends, now() - length if length else None))


def _charts_address(name: str, comparison: str, span: str) -> str:
    """Return the address of the charts' numbers."""
    query = urlencode({"comparison": comparison, "span": span})
    return f"/monitors/{quote(name)}/charts.json?{query}"


def _chosen(monitor: Monitor, evidence: Sequence[EvidenceView], comparison: str) -> list[str]:
    """Return the requested comparison, or else raised alarms and those that are declared first."""
    declared = {watch.key: position for position, watch in enumerate(monitor.plan.all_comparisons)}
    ordered = sorted(
        evidence,
        key=lambda part: (part.standing is None, declared.get(part.comparison, len(declared))),
    )
    if comparison in {part.comparison for part in evidence}:
        return [comparison]
    drawn = [part.comparison for part in ordered if not is_missing_without_finding(part)]
    return drawn[:MAX_CHARTS]


def _urgency(evidence: EvidenceView) -> tuple[bool, float]:
    """Return a sort key: raised alarms first, then those nearest to one."""
    return evidence.standing is None, -evidence.log_e / evidence.bound
