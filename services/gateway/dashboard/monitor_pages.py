"""Pages of a monitor, its strata and alarms, and their tables as files."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.dashboard.forms import PageForms, forms_with
from biaswatch.services.gateway.dashboard.overview_pages import OverviewQueries
from biaswatch.services.gateway.dashboard.rendering import (
    LIVE,
    MONITOR_CHARTS,
    UPLOT,
    UPLOT_STYLE,
    csv_file,
    page,
)
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.monitors.strata import MOST_WINDOWS, StrataQueries
from biaswatch.shared.contracts import comparison_titles, standing_of
from biaswatch.shared.presentation.charts import (
    RANGES,
    ChartColumns,
    chart_columns,
    evidence_chart,
    gap_chart,
    in_time,
)
from biaswatch.shared.presentation.monitor_tables import (
    accounts_table,
    evidence_table,
    history_table,
    labelled_table,
    strata_table,
    table_of_one,
    window_table,
)
from biaswatch.shared.presentation.overview import live_monitor
from biaswatch.shared.presentation.plots import has_gaps, strata_plot
from biaswatch.shared.requests.evidence import EvidenceView
from biaswatch.shared.requests.monitor_views import History, labelled_promise_in_words

RELOAD_S = 30
MOST_CHARTS = 6
MOST_CHARTED_WINDOWS = 24
MOST_WINDOWS_IN_TIME = 1000


def monitor_page_routes(
    monitors: MonitorQueries, overview: OverviewQueries, tokens: Tokens, now: Callable[[], datetime]
) -> APIRouter:
    """Return the pages of a monitor."""
    router = APIRouter(dependencies=[Depends(tokens.signed_in)])
    page_forms = forms_with(tokens)

    def timed(found: Sequence[History], name: str, span: str, *, traffic: bool) -> list[History]:
        longest = max((len(each.moments) for each in found), default=0)
        last = min(longest, MOST_WINDOWS_IN_TIME)
        ends = monitors.window_ends(name, last) if traffic else {}
        length = RANGES.get(span)
        return list(in_time(found, ends, now() - length if length else None))

    def drawn_in(name: str, chosen: Sequence[str], span: str, *, traffic: bool) -> list[History]:
        return timed(monitors.drawn(name, chosen), name, span, traffic=traffic)

    @router.get("/monitors/{name}")
    def show_monitor(
        name: str,
        forms: Annotated[PageForms, Depends(page_forms)],
        comparison: str = "",
        span: str = "",
        *,
        live: bool = False,
    ) -> HTMLResponse:
        view = monitors.show(name)
        plan = monitors.monitor(name).plan
        titles, traffic = comparison_titles(plan), plan.traffic
        chosen = _chosen(view.evidence, comparison)
        drawn = drawn_in(name, chosen, span, traffic=traffic is not None)
        windows = monitors.windows(name, MOST_CHARTED_WINDOWS) if view.accounts else []
        evidence = sorted(view.evidence, key=_by_urgency)
        shown = page(
            "monitor.html",
            scripts=(UPLOT_STYLE, UPLOT, MONITOR_CHARTS, LIVE),
            shape=live_monitor(view.stand).shape,
            charts_at=_charts_address(name, comparison, span),
            forms=forms,
            reload_s=RELOAD_S if live else None,
            live=live,
            view=view,
            titles=titles,
            evidence=evidence,
            alarms=list(standing_of(view.alarms).values()),
            comparisons=evidence_table(name, evidence, titles),
            searched=any(each.change_searched for each in evidence),
            charts=[
                (each, gap_chart(each, title), evidence_chart(each, title))
                for each in drawn
                for title in [titles.get(each.comparison, each.comparison)]
            ],
            total=len(view.evidence),
            comparison=comparison,
            span=span,
            spans=list(RANGES),
            accounts=accounts_table(view.accounts, windows) if view.accounts else None,
            labelled=labelled_table(view.labelled, view.evidence) if view.labelled else None,
            labels_promise=labelled_promise_in_words(view.stand.alpha),
            window=window_table(view.window) if view.window else None,
            strata=traffic.strata if traffic else (),
            rounds=overview.rounds(name),
            now=now(),
        )
        return forms.kept_by(shown)

    @router.get("/monitors/{name}/charts.json")
    def read_charts(name: str, comparison: str = "", span: str = "") -> list[ChartColumns]:
        view, titles = monitors.show(name), comparison_titles(monitors.monitor(name).plan)
        chosen = _chosen(view.evidence, comparison)
        drawn = drawn_in(name, chosen, span, traffic=view.accounts is not None)
        return [chart_columns(each, titles.get(each.comparison, each.comparison)) for each in drawn]

    @router.get("/monitors/{name}/alarms")
    def show_alarms(name: str, forms: Annotated[PageForms, Depends(page_forms)]) -> HTMLResponse:
        alarms = monitors.alarms(name)
        shown = page(
            "alarms.html",
            name=name,
            forms=forms,
            titles=comparison_titles(monitors.monitor(name).plan),
            alarms=alarms,
            standing={each.id for each in standing_of(view.alarm for view in alarms).values()},
            notes=overview.acknowledgements(each.alarm.id for each in alarms),
        )
        return forms.kept_by(shown)

    _add_files(router, monitors, timed)
    return router


def _add_files(
    router: APIRouter, monitors: MonitorQueries, timed: Callable[..., list[History]]
) -> None:
    """Add the tables of a monitor's page as files."""

    @router.get("/monitors/{name}/comparisons.csv")
    def download_comparisons(name: str) -> Response:
        titles = comparison_titles(monitors.monitor(name).plan)
        return csv_file(evidence_table(name, monitors.show(name).evidence, titles), "comparisons")

    @router.get("/monitors/{name}/labelled.csv")
    def download_labelled(name: str) -> Response:
        view = monitors.show(name)
        return csv_file(labelled_table(view.labelled, view.evidence), "labelled")

    @router.get("/monitors/{name}/history.csv")
    def download_history(name: str, span: str = "") -> Response:
        monitor = monitors.monitor(name)
        traffic = monitor.plan.traffic is not None
        histories = timed(monitors.histories(name), name, span, traffic=traffic)
        return csv_file(history_table(histories, comparison_titles(monitor.plan)), "history")


def _charts_address(name: str, comparison: str, span: str) -> str:
    """Return where the numbers of the charts are."""
    asked = urlencode({"comparison": comparison, "span": span})
    return f"/monitors/{quote(name)}/charts.json?{asked}"


def _chosen(evidence: Sequence[EvidenceView], comparison: str) -> list[str]:
    """Return the comparison that is asked for, or those with the most evidence."""
    keys = [each.comparison for each in sorted(evidence, key=_by_evidence)]
    return [comparison] if comparison in keys else keys[:MOST_CHARTS]


def _by_evidence(evidence: EvidenceView) -> tuple[float, str]:
    """Return what comparisons are drawn by: how near they have been to an alarm."""
    return -evidence.log_supremum / evidence.bound, evidence.comparison


def _by_urgency(evidence: EvidenceView) -> tuple[bool, float]:
    """Return what evidence is sorted by: alarms that stand first, then what is nearest to one."""
    return evidence.standing is None, -evidence.log_e / evidence.bound


def strata_routes(strata: StrataQueries, tokens: Tokens) -> APIRouter:
    """Return the page of a monitor's strata."""
    router = APIRouter(dependencies=[Depends(tokens.signed_in)])

    @router.get("/monitors/{name}/strata")
    def show_strata(name: str) -> HTMLResponse:
        found = strata.strata(name)
        return page(
            "strata.html",
            name=name,
            comparisons=[
                (each, strata_plot(each), table_of_one(each), has_gaps(each)) for each in found
            ],
            most_windows=MOST_WINDOWS,
        )

    @router.get("/monitors/{name}/strata.csv")
    def download_strata(name: str) -> Response:
        return csv_file(strata_table(strata.strata(name)), "strata")

    return router
