"""Pages of a run's answers: search, counterfactual twins, file."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, StreamingResponse

from biaswatch.services.gateway.archived_answers import AnswersInStore
from biaswatch.services.gateway.auth import PAGE_HEADERS, Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.dashboard.rendering import page
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Features, Probe, Response, Run, Target, response_id_of
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.presentation.answer_filters import (
    ANY_REASON,
    AnswerFilter,
    FilterChoices,
    group_name,
)
from biaswatch.shared.presentation.answers import (
    FILE_TITLES,
    AnswerView,
    answer_view,
    file_rows,
    readings_table,
    side_by_side,
)
from biaswatch.shared.presentation.tables import csv_text
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import PlannedProbes, Store

ON_A_PAGE = 20
AT_ONCE = 100
MOST_LOOKED_THROUGH = 300
"""Answers that one page looks through for those that fit; the next page goes on from there."""
Found = tuple[Probe, Response | None, list[Features]]


@dataclass(frozen=True)
class AnswerPage:
    """Answers that fit, and where to go on."""

    answers: tuple[AnswerView, ...]
    looked_through: int
    planned: int
    """How many answers fit by group, set, target and scaffold."""
    after: str | None
    """Where the next page begins; None at the end."""


class AnswerQueries:
    """Reads answers; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def planned(self, run_id: str) -> tuple[Run, PlannedProbes | None]:
        """Return a run and what it asks; a window of traffic asks nothing.

        Raises
        ------
        NotFoundError
            There is no such run.
        """
        run = next(self._store.records.get(Run, [run_id]), None)
        if run is None:
            raise NotFoundError(f"There is no run {run_id}. `biaswatch runs` lists them.")
        outline = self._store.suites.outline(run.suite_hash)
        return run, PlannedProbes(self._store.suites, outline, run) if outline else None

    def choices(
        self, run: Run, planned: PlannedProbes | None, reasons: Sequence[str]
    ) -> FilterChoices:
        """Return what a run's answers can be filtered by."""
        known = {(each.name, each.version): each for each in self._store.extractors.ever()}
        pinned = [known.get((pin.name, pin.version)) for pin in run.extractors]
        measured = [each for each in pinned if each] or list(() if planned else known.values())
        return FilterChoices(
            groups=self._group_names(planned.suite_hash) if planned else (),
            targets=tuple(target.name for target in run.targets),
            scaffolds=run.scaffolds,
            features=tuple(f"{each.name}.{name}" for each in measured for name in each.features),
            reasons=tuple(sorted(reasons)),
        )

    def _group_names(self, hash_: str) -> tuple[str, ...]:
        found = self._store.suites.groups(hash_)
        return tuple(group_name(each.dimension, each.group) for each in found)

    def _about(self, planned: PlannedProbes, group: str) -> PlannedProbes:
        """Return the part of a plan that is about a group, as a filter names it.

        Facts of questions are in no index: of a stratum the whole plan is looked through.
        """
        found = self._store.suites.groups(planned.suite_hash)
        dimension = group.partition("=")[0]
        if dimension in planned.strata and dimension not in {each.dimension for each in found}:
            return planned
        return planned.of_groups(
            [each.number for each in found if group_name(each.dimension, each.group) == group]
        )

    def page(self, run: Run, planned: PlannedProbes | None, wanted: AnswerFilter) -> AnswerPage:
        """Return the next answers that fit."""
        if planned is None:
            return self._of_window(run, wanted)
        if wanted.set:
            planned = planned.of_set(wanted.set).narrowed(wanted.fits_groups)
        elif wanted.group:
            planned = self._about(planned, wanted.group)
        targets, scaffolds = _narrowed(run, wanted)
        fitting = planned.amount(len(targets), len(scaffolds))
        first = min(int(wanted.after), fitting) if wanted.after.isdecimal() else 0
        probes = planned.read(run.at, first=first, targets=targets, scaffolds=scaffolds)
        every = islice(probes, MOST_LOOKED_THROUGH)
        shown: list[AnswerView] = []
        sieved = wanted.q or wanted.needs_measurements or wanted.group
        looked, step = first, AT_ONCE if sieved else ON_A_PAGE
        while len(shown) < ON_A_PAGE and (some := list(islice(every, step))):
            for each in self._fitting(some, wanted):
                looked += 1
                if each is not None:
                    shown.append(answer_view(*each))
                if len(shown) == ON_A_PAGE:
                    break
        after = str(looked) if looked < fitting else None
        return AnswerPage(tuple(shown), looked - first, fitting, after)

    def twins(
        self, run: Run, planned: PlannedProbes | None, wanted: AnswerFilter
    ) -> list[AnswerView]:
        """Return the answers to all twins of a set, for one target and scaffold."""
        if planned is None or not wanted.set:
            return []
        targets, scaffolds = _narrowed(run, wanted)
        of_set = planned.of_set(wanted.set).narrowed(AnswerFilter(set=wanted.set).fits_groups)
        probes = list(of_set.read(run.at, targets=targets, scaffolds=scaffolds))
        everything = AnswerFilter()
        return [answer_view(*each) for each in self._fitting(probes, everything) if each]

    def _of_window(self, run: Run, wanted: AnswerFilter) -> AnswerPage:
        """Return answers of production traffic, in the order of their ids."""
        planned = self._store.records.count(Response, run_id=run.id)
        shown: list[AnswerView] = []
        after, looked = wanted.after, 0
        while looked < MOST_LOOKED_THROUGH and len(shown) < ON_A_PAGE:
            ids = self._store.records.ids_of_run(Response, run.id, after=after, most=AT_ONCE)
            stored = {each.id: each for each in self._store.records.get(Response, ids)}
            measured = self._measured(ids)
            for id_ in ids:
                looked, after = looked + 1, id_
                one = stored[id_]
                if (
                    wanted.fits_probe(one.probe)
                    and wanted.fits_measurements(one, measured.get(id_, []))
                    and wanted.fits_texts(one)
                ):
                    shown.append(answer_view(one.probe, one, measured.get(id_, [])))
                if len(shown) == ON_A_PAGE:
                    break
            if len(ids) < AT_ONCE and len(shown) < ON_A_PAGE:
                return AnswerPage(tuple(shown), looked, planned, None)
        return AnswerPage(tuple(shown), looked, planned, after)

    def _fitting(self, probes: Sequence[Probe], wanted: AnswerFilter) -> Iterator[Found | None]:
        """Return for each probe its answer and measurements, or None where they do not fit.

        What is cheap to read decides first: numbers, then texts.
        """
        ids = {each.id: response_id_of(each) for each in probes}
        kept = {each.id: ids[each.id] for each in probes if wanted.fits_groups(each)}
        if wanted.needs_measurements and not wanted.missing:
            chosen = self._measured(kept.values(), extractor=wanted.extractor)
            kept = {
                probe: id_
                for probe, id_ in kept.items()
                if wanted.fits_measurements(None, chosen.get(id_, []))
            }
        stored = {each.id: each for each in self._store.records.get(Response, kept.values())}
        kept = {p: id_ for p, id_ in kept.items() if wanted.fits_texts(stored.get(id_))}
        measured = self._measured(kept.values())
        for probe in probes:
            response = stored.get(ids[probe.id])
            found = measured.get(ids[probe.id], [])
            fits = probe.id in kept and wanted.fits_measurements(response, found)
            yield (probe, response, found) if fits else None

    def _measured(self, response_ids: Iterable[str], **equal: str) -> dict[str, list[Features]]:
        found: dict[str, list[Features]] = {}
        for each in self._store.records.by_key(Features, "response_id", response_ids, **equal):
            found.setdefault(each.response_id, []).append(each)
        return found


def _narrowed(run: Run, wanted: AnswerFilter) -> tuple[list[Target], list[str]]:
    """Return which targets and scaffolds of a run the filter leaves."""
    targets = [each for each in run.targets if wanted.target in ("", each.name)]
    return targets, [each for each in run.scaffolds if wanted.scaffold in ("", each)]


def answer_routes(
    answers: AnswerQueries, runs: RunQueries, in_store: AnswersInStore, tokens: Tokens
) -> APIRouter:
    """Return the pages of answers; of archived ones they say so."""
    router = APIRouter(dependencies=[Depends(tokens.signed_in), Depends(in_store)])

    @router.get("/runs/{run_id}/answers")
    def show_answers(
        run_id: str,
        wanted: Annotated[AnswerFilter, Query()],
        caller: Annotated[Caller, Depends(tokens.signed_in)],
    ) -> HTMLResponse:
        run, planned = answers.planned(run_id)
        wanted = _allowed(wanted, caller)
        return page(
            "answers.html",
            run=run,
            planned=planned is not None,
            wanted=wanted,
            texts=caller.texts,
            found=answers.page(run, planned, wanted),
            choices=answers.choices(run, planned, _reasons(runs, run_id)),
        )

    @router.get("/runs/{run_id}/twins")
    def show_twins(
        run_id: str,
        wanted: Annotated[AnswerFilter, Query()],
        caller: Annotated[Caller, Depends(tokens.signed_in)],
        a: str = "",
        b: str = "",
    ) -> HTMLResponse:
        run, planned = answers.planned(run_id)
        first = {"target": wanted.target or run.targets[0].name}
        wanted = wanted.model_copy(
            update={**first, "scaffold": wanted.scaffold or run.scaffolds[0]}
        )
        twins = answers.twins(run, planned, wanted)
        return page(
            "twins.html",
            run=run,
            wanted=wanted,
            texts=caller.texts,
            pair=side_by_side(twins, a, b, texts=caller.texts),
            labels=[(each.label, each.about) for each in twins],
            readings=readings_table(twins),
        )

    @router.get("/runs/{run_id}/answers.csv")
    async def download_answers(
        run_id: str,
        wanted: Annotated[AnswerFilter, Query()],
        caller: Annotated[Caller, Depends(tokens.signed_in)],
    ) -> StreamingResponse:
        run, planned = await in_thread(answers.planned, run_id)
        lines = _lines(answers, run, planned, _allowed(wanted, caller))
        return StreamingResponse(
            lines,
            media_type="text/csv; charset=utf-8",
            headers={**PAGE_HEADERS, "Content-Disposition": "attachment; filename=answers.csv"},
        )

    return router


def _allowed(wanted: AnswerFilter, caller: Caller) -> AnswerFilter:
    """Return the filter without words: who may not read texts must not find out by asking."""
    return wanted if caller.texts else wanted.model_copy(update={"q": ""})


def _reasons(runs: RunQueries, run_id: str) -> list[str]:
    """Return why answers of a run are missing, as its findings say."""
    found = {
        reason
        for each in runs.diagnoses(run_id)
        for group in each.groups
        for reason in group.missing_reasons
    }
    return [ANY_REASON, *sorted(found - {ANY_REASON})]


def _lines(
    answers: AnswerQueries, run: Run, planned: PlannedProbes | None, wanted: AnswerFilter
) -> Iterator[str]:
    """Return the file in parts, so that no run has to fit into memory."""
    yield csv_text(FILE_TITLES, [])
    after: str | None = ""
    while after is not None:
        found = answers.page(run, planned, wanted.model_copy(update={"after": after}))
        yield csv_text([], file_rows(found.answers))
        after = found.after
