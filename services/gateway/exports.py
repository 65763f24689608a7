"""Answers and measurements of a run, page by page."""

from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from biaswatch.services.gateway.context import GatewayContext, archived_sentence
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.measurements import features_by_response
from biaswatch.services.gateway.runs.queries import no_run
from biaswatch.shared.contracts import Probe, Response, Right, Round, Run, response_id_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.exports import (
    AnswersPage,
    FeaturesPage,
    MonitorRun,
    exported_answer,
    exported_features,
)
from biaswatch.shared.store import PlannedProbes, Store

MAX_ANSWERS = 1000
MAX_WINDOWS = 100_000
MAX_POSITION = 2**31
"""Larger than any run; a cursor beyond it is at the end."""
PlannedAnswer = tuple[Probe, str, Response | None]
"""A probe, the id of its response, and the response if it has arrived."""


class ExportFilter(BaseModel):
    """Selection of answers of a run."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    after: str = Field(default="", max_length=64)
    """Where the page before ended."""
    limit: int = Field(default=500, ge=1, le=MAX_ANSWERS)
    """How many answers are looked at; those that do not fit are left out."""
    group: list[Annotated[str, Field(max_length=1024)]] = []
    """`dimension=group`; all of them have to fit."""
    target: str = Field(default="", max_length=512)
    scaffold: str = Field(default="", max_length=512)
    unit: str = Field(default="", max_length=512)

    def matches(self, probe: Probe) -> bool:
        """Return whether the answer to a probe is selected."""
        pairs = {f"{dimension}={group}" for dimension, group in probe.groups.items()}
        return (
            pairs.issuperset(self.group)
            and self.target in ("", probe.target.name)
            and self.scaffold in ("", probe.scaffold)
            and self.unit in ("", probe.unit_id)
        )


@dataclass(frozen=True)
class ExportQueries:
    """Blocking queries of exported records; call them in a thread."""

    store: Store
    monitors: MonitorQueries

    def answers(self, run_id: str, selection: ExportFilter) -> AnswersPage:
        """Return a page of answers with their questions; raise NotFoundError without such a run."""
        _, answers, after = self._page(run_id, selection)
        return AnswersPage(answers=[exported_answer(*answer) for answer in answers], after=after)

    def features(self, run_id: str, selection: ExportFilter) -> FeaturesPage:
        """Return the measurements of a page; raise NotFoundError without such a run."""
        run, answers, after = self._page(run_id, selection)
        ids = [response_id for _, response_id, _ in answers]
        measured = features_by_response(self.store, ids)
        pinned = () if run is None or run.window else run.extractors
        return FeaturesPage(
            features=[row for id_ in ids for row in exported_features(id_, measured[id_], pinned)],
            after=after,
        )

    def runs(self, name: str, since: datetime | None = None) -> list[MonitorRun]:
        """Return the runs of a monitor's rounds or traffic windows, the earliest first."""
        if since is not None and since.tzinfo is None:
            raise UsageError("`since` needs its zone, like 2026-11-21T09:14:03Z.")
        monitor = self.monitors.monitor(name)
        rounds = self.store.records.of_monitor(Round, monitor.monitor_id)
        moments = {round_.run_id: round_.at for round_ in rounds}
        if monitor.plan.traffic is not None:
            windows = self.store.window_answers.latest(monitor.monitor_id, MAX_WINDOWS)
            moments |= {window.of.run_id: window.of.window.begins for window in windows}
        moments = {run_id: at for run_id, at in moments.items() if since is None or at >= since}
        archived = self.store.archived_runs.among(moments)
        for run_id in self.store.records.missing(Run, moments.keys() - archived.keys()):
            if not self._has_answers(run_id):  # all answers of the window were refused
                del moments[run_id]
        runs = [
            MonitorRun(
                run_id=run_id,
                at=at,
                archived=archived_sentence(archived[run_id]) if run_id in archived else None,
            )
            for run_id, at in moments.items()
        ]
        return sorted(runs, key=lambda run: (run.at, run.run_id))

    def _page(
        self, run_id: str, selection: ExportFilter
    ) -> tuple[Run | None, list[PlannedAnswer], str | None]:
        """Return the run, a page of its answers and the next cursor.

        A window that is not closed yet has answers and no run.
        """
        run = next(self.store.records.get(Run, [run_id]), None)
        if run is None and not self._has_answers(run_id):
            raise no_run(run_id)
        outline = None if run is None else self.store.suites.outline(run.suite_hash)
        if run is None or outline is None:
            return run, *self._page_of_window(run_id, selection)
        planned = PlannedProbes(self.store.suites, outline, run)
        return run, *self._page_of_plan(run, planned, selection)

    def _has_answers(self, run_id: str) -> bool:
        return bool(self.store.records.ids_of_run(Response, run_id, after="", most=1))

    def _page_of_plan(
        self, run: Run, planned: PlannedProbes, selection: ExportFilter
    ) -> tuple[list[PlannedAnswer], str | None]:
        """Return answers in the order of the run's plan, including those that are missing."""
        first = min(int(selection.after), MAX_POSITION) if selection.after.isdecimal() else 0
        probes = list(islice(planned.read(run.at, first=first), selection.limit))
        ids = {probe.id: response_id_of(probe) for probe in probes if selection.matches(probe)}
        stored = {
            response.id: response for response in self.store.records.get(Response, ids.values())
        }
        answers = [
            (probe, ids[probe.id], stored.get(ids[probe.id])) for probe in probes if probe.id in ids
        ]
        return answers, str(first + len(probes)) if len(probes) == selection.limit else None

    def _page_of_window(
        self, run_id: str, selection: ExportFilter
    ) -> tuple[list[PlannedAnswer], str | None]:
        """Return answers of production traffic in the order of their ids."""
        ids = self.store.records.ids_of_run(
            Response, run_id, after=selection.after, most=selection.limit
        )
        stored = {response.id: response for response in self.store.records.get(Response, ids)}
        answers: list[PlannedAnswer] = [
            (stored[id_].probe, id_, stored[id_])
            for id_ in ids
            if selection.matches(stored[id_].probe)
        ]
        return answers, ids[-1] if len(ids) == selection.limit else None


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of exports."""
    router = APIRouter(prefix="/v1", dependencies=[ctx.tokens.require(Right.READ)])
    queries = ExportQueries(ctx.store, ctx.queries(MonitorQueries))
    unarchived = [Depends(ctx.require_unarchived)]

    @router.get("/runs/{run_id}/responses", dependencies=unarchived)
    def responses(run_id: str, selection: Annotated[ExportFilter, Query()]) -> AnswersPage:
        """Return some answers of a run with their questions; texts if the token may read them.

        The order never changes, so `after` takes the next page. For a run with a suite, answers
        that are missing have their entry too.
        """
        return queries.answers(run_id, selection)

    @router.get("/runs/{run_id}/features", dependencies=unarchived)
    def features(run_id: str, selection: Annotated[ExportFilter, Query()]) -> FeaturesPage:
        """Return the measurements of the same page by every extractor, with its version."""
        return queries.features(run_id, selection)

    @router.get("/monitors/{name}/runs")
    def runs_of_monitor(name: str, since: datetime | None = None) -> list[MonitorRun]:
        """Return the runs of a monitor's rounds or traffic windows, the earliest first."""
        return queries.runs(name, since)

    return router
