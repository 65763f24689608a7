"""The overview, and pages on operation: alarms, audit trail, extractors, traffic."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.dashboard.rendering import LIVE, csv_file, page
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.runs.studies import MOST_SCORED, StudyQueries
from biaswatch.services.gateway.status import StatusQueries
from biaswatch.shared.contracts import (
    Alarm,
    AuditAction,
    AuditEntry,
    Brief,
    ExtractorStatus,
    OwnGap,
    Round,
    Run,
    UnwatchedSource,
    comparison_titles,
)
from biaswatch.shared.contracts.access import Right
from biaswatch.shared.presentation.names import is_about_a_run, kind_of
from biaswatch.shared.presentation.operation_tables import (
    TrafficSource,
    audit_table,
    extractors_table,
    own_bias_table,
    traffic_table,
    unwatched_table,
)
from biaswatch.shared.presentation.overview import RunScored, RunSpent, live_overview, runs_table
from biaswatch.shared.requests.run_views import RunProgress
from biaswatch.shared.store import Store
from biaswatch.shared.store.audit import AuditFilter

GIVEN_REPORT = "a given report"
"""What an interpretation is called that no model wrote."""


def names_of(entries: Iterable[AuditEntry], store: Store) -> dict[str, str]:
    """Return what runs and interpretations are called, by their ids; those that are gone are not.

    It blocks, so call it in a thread.
    """
    entries = list(entries)
    runs = {each.subject for each in entries if is_about_a_run(each)}
    briefs = {each.subject for each in entries if kind_of(each) == "interpretation"}
    found = {each.id: each.suite for each in store.records.get(Run, runs)}
    return found | {each.id: _called(each) for each in store.records.get(Brief, briefs)}


def _called(brief: Brief) -> str:
    return brief.writer.name if brief.writer else GIVEN_REPORT


MOST_WINDOWS = 24
MOST_ENTRIES = 200
MOST_NOTES = 20
MOST_ROUNDS = 10
"""Of a monitor, by which its spending is told."""
ACKNOWLEDGED = AuditAction.ALARM_ACKNOWLEDGE.value


OF_TOO_MANY = "of more questions than a page computes; `biaswatch show` prints them"
ON_ITS_PAGE = "not computed yet: its page shows them, and so does this one when it is loaded anew"


@dataclass(frozen=True)
class MonitorRounds:
    """The last rounds of a monitor."""

    rounds: int
    spent: RunSpent
    """By all of them together."""
    began: Round | None
    """The round that began their epoch, and why; None where it is the first."""
    began_at: datetime | None
    """When: of traffic, when the window began."""


class OverviewQueries:
    """Reads the platform as a whole; it blocks, so call it in a thread."""

    def __init__(
        self, store: Store, monitors: MonitorQueries, status: StatusQueries, studies: StudyQueries
    ) -> None:
        self.status = status
        self._studies = studies
        self._store = store
        self._monitors = monitors

    def spent(self, runs: Iterable[RunProgress]) -> dict[str, RunSpent]:
        """Return what runs have spent."""
        found = self._store.calls.spending(each.run_id for each in runs)
        return {run_id: RunSpent(each.tokens, each.cost) for run_id, each in found.items()}

    def scored(self, runs: Iterable[RunProgress]) -> dict[str, RunScored]:
        """Return the bias scores of the runs that have some, or why they are not shown.

        Of those that nobody has looked at yet, so many are computed that nobody waits long.
        """
        found, left = {}, MOST_SCORED
        for each in (run for run in runs if run.ended):
            known = self._studies.knows_scores(each)
            if scored := self._scored(each, MOST_SCORED if known else left):
                found[each.run_id] = scored
                left -= each.probes if scored.scores and not known else 0
        return found

    def _scored(self, run: RunProgress, most: int) -> RunScored | None:
        if run.probes > most:
            reason = OF_TOO_MANY if run.probes > MOST_SCORED else ON_ITS_PAGE
            return RunScored((), reason) if self._studies.has_scores(run.run_id) else None
        scores = self._studies.scores(run)
        return RunScored(scores) if scores else None

    def rounds(self, name: str) -> MonitorRounds | None:
        """Return what a monitor's last rounds have spent, and what began their epoch."""
        monitor = self._monitors.monitor(name)
        latest = self._store.rounds.latest(Round, monitor, MOST_ROUNDS)
        if not latest:
            return None
        found = self._store.calls.spending([each.run_id for each in latest])
        tokens = sum(each.tokens for each in found.values())
        spent = RunSpent(tokens, sum(each.cost for each in found.values()))
        began = latest[-1].began_with
        first = self._store.rounds.get(monitor, began) if began else None
        return MonitorRounds(len(latest), spent, first, self._began_at(first))

    def _began_at(self, first: Round | None) -> datetime | None:
        if first is None:
            return None
        run = next(self._store.records.get(Run, [first.run_id]), None)
        return run.window.begins if run and run.window else first.at

    def extractors(self) -> list[ExtractorStatus]:
        """Return every extractor and version."""
        return self._store.extractors.ever()

    def own_gaps(self, statuses: Iterable[ExtractorStatus]) -> list[tuple[ExtractorStatus, OwnGap]]:
        """Return what extractors make of groups' names by themselves."""
        find = self._store.calibrations.find
        return [(each, own) for each in statuses for own in find(each.name, each.version)]

    def sources(self) -> list[TrafficSource]:
        """Return the live systems that are watched."""
        found = []
        for each in self._monitors.statuses():
            monitor = self._monitors.monitor(each.name)
            if monitor.plan.traffic is not None:
                accounts = self._store.window_answers.accounts(monitor.monitor_id)
                windows = self._monitors.windows(each.name, MOST_WINDOWS)
                found.append(TrafficSource(each.name, each.target, each.state, accounts, windows))
        return found

    def unwatched(self) -> list[UnwatchedSource]:
        """Return the live systems of which answers come that nobody watches."""
        return self._store.unwatched_answers.read()

    def audit(self, wanted: AuditFilter) -> list[AuditEntry]:
        """Return the latest entries of the caller's tenant."""
        return self._store.audit.latest(MOST_ENTRIES, wanted)

    def audited_names(self, entries: Iterable[AuditEntry]) -> dict[str, str]:
        """Return what runs and interpretations are called that entries name by their ids."""
        return names_of(entries, self._store)

    def acknowledgements(self, alarm_ids: Iterable[str]) -> dict[str, list[AuditEntry]]:
        """Return who has acknowledged alarms, the latest first; the audit trail keeps it."""
        return {
            id_: [each for each in found if each.failure is None]
            for id_ in alarm_ids
            for found in [
                self._store.audit.latest(MOST_NOTES, AuditFilter(id_, None, ACKNOWLEDGED))
            ]
            if found
        }


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
