"""Answers and measurements of a run, page by page."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from biaswatch.services.gateway.archived_answers import AnswersInStore, archived_sentence
from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.shared.contracts import Features, Probe, Response, Round, Run, response_id_of
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.requests.exports import (
    AnswersPage,
    ExportedFeatures,
    FeaturesPage,
    MonitorRun,
    exported_answer,
    exported_features,
)
from biaswatch.shared.store import PlannedProbes, Store

MOST_AT_ONCE = 1000
MOST_RUNS = 100_000
Found = tuple[Probe, str, Response | None]
"""The probe, the id of its response, and the response where it came."""
MOST_PLACES = 2**31
"""No run asks for so many answers; a cursor beyond it is at the end."""


class ExportFilter(BaseModel):
    """Which answers of a run, and from where on."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    after: str = Field(default="", max_length=64)
    """Where the page before ended."""
    limit: int = Field(default=500, ge=1, le=MOST_AT_ONCE)
    """How many answers are looked at; those that do not fit are left out."""
    group: list[Annotated[str, Field(max_length=1024)]] = []
    """`dimension=group`; all of them have to fit."""
    target: str = Field(default="", max_length=512)
    scaffold: str = Field(default="", max_length=512)
    unit: str = Field(default="", max_length=512)

    def fits(self, probe: Probe) -> bool:
        """Tell whether an answer to this probe is wanted."""
        pairs = {f"{dimension}={group}" for dimension, group in probe.groups.items()}
        return (
            pairs.issuperset(self.group)
            and self.target in ("", probe.target.name)
            and self.scaffold in ("", probe.scaffold)
            and self.unit in ("", probe.unit_id)
        )


class ExportQueries:
    """Reads what is exported; it blocks, so call it in a thread."""

    def __init__(self, store: Store, monitors: MonitorQueries) -> None:
        self._store = store
        self._monitors = monitors

    def answers(self, run_id: str, asked: ExportFilter) -> AnswersPage:
        """Return some answers of a run with their questions.

        Raises
        ------
        NotFoundError
            There is no such run.
        """
        _, found, after = self._page(run_id, asked)
        return AnswersPage(answers=[exported_answer(*each) for each in found], after=after)

    def features(self, run_id: str, asked: ExportFilter) -> FeaturesPage:
        """Return what every extractor read in the answers of the same page.

        Raises
        ------
        NotFoundError
            There is no such run.
        """
        run, found, after = self._page(run_id, asked)
        ids = [response_id for _, response_id, _ in found]
        measured: dict[str, list[Features]] = defaultdict(list)
        for each in self._store.records.by_key(Features, "response_id", ids):
            measured[each.response_id].append(each)
        pinned = () if run is None or run.window else run.extractors
        every: list[ExportedFeatures] = []
        for id_ in ids:
            every += exported_features(id_, measured[id_], pinned)
        return FeaturesPage(features=every, after=after)

    def runs(self, name: str, since: datetime | None = None) -> list[MonitorRun]:
        """Return the runs of a monitor's rounds, or of its windows of traffic, the first first."""
        if since is not None and since.tzinfo is None:
            raise UsageError("`since` needs its zone, like 2026-11-21T09:14:03Z.")
        monitor = self._monitors.monitor(name)
        found = {
            each.run_id: each.at
            for each in self._store.records.of_monitor(Round, monitor.monitor_id)
        }
        if monitor.plan.traffic is not None:
            windows = self._store.window_answers.latest(monitor.monitor_id, MOST_RUNS)
            found |= {each.of.run_id: each.of.window.begins for each in windows}
        found = {run_id: at for run_id, at in found.items() if since is None or at >= since}
        archived = self._store.archived_runs.among(found)
        for run_id in self._store.records.missing(Run, found.keys() - archived.keys()):
            if not self._has_answers(run_id):  # all that was sent in for it was refused
                del found[run_id]
        runs = [
            MonitorRun(
                run_id=run_id,
                at=at,
                archived=archived_sentence(archived[run_id]) if run_id in archived else None,
            )
            for run_id, at in found.items()
        ]
        return sorted(runs, key=lambda each: (each.at, each.run_id))

    def _page(self, run_id: str, asked: ExportFilter) -> tuple[Run | None, list[Found], str | None]:
        """Return the run, which a window that is not read yet has not, and answers of it."""
        run = next(self._store.records.get(Run, [run_id]), None)
        if run is None and not self._has_answers(run_id):
            raise NotFoundError(f"There is no run {run_id}. `biaswatch runs` lists them.")
        outline = None if run is None else self._store.suites.outline(run.suite_hash)
        if run is None or outline is None:
            return run, *self._of_window(run_id, asked)
        planned = PlannedProbes(self._store.suites, outline, run)
        return run, *self._planned(run, planned, asked)

    def _has_answers(self, run_id: str) -> bool:
        return bool(self._store.records.ids_of_run(Response, run_id, after="", most=1))

    def _planned(
        self, run: Run, planned: PlannedProbes, asked: ExportFilter
    ) -> tuple[list[Found], str | None]:
        """Return answers in the order of the run's plan, also those that have not come."""
        first = min(int(asked.after), MOST_PLACES) if asked.after.isdecimal() else 0
        probes = list(islice(planned.read(run.at, first=first), asked.limit))
        wanted = {each.id: response_id_of(each) for each in probes if asked.fits(each)}
        stored = {each.id: each for each in self._store.records.get(Response, wanted.values())}
        found = [
            (each, wanted[each.id], stored.get(wanted[each.id]))
            for each in probes
            if each.id in wanted
        ]
        return found, str(first + len(probes)) if len(probes) == asked.limit else None

    def _of_window(self, run_id: str, asked: ExportFilter) -> tuple[list[Found], str | None]:
        """Return answers of production traffic in the order of their ids."""
        ids: Sequence[str] = self._store.records.ids_of_run(
            Response, run_id, after=asked.after, most=asked.limit
        )
        stored = {each.id: each for each in self._store.records.get(Response, ids)}
        found: list[Found] = [
            (stored[id_].probe, id_, stored[id_]) for id_ in ids if asked.fits(stored[id_].probe)
        ]
        return found, ids[-1] if len(ids) == asked.limit else None


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
