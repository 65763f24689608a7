"""Pages of a run's answers: search, counterfactual twins, file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, StreamingResponse

from biaswatch.services.gateway.auth import PAGE_HEADERS
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.dashboard.page_forms import PageForms, forms_with
from biaswatch.services.gateway.dashboard.rendering import ANSWERS, page
from biaswatch.services.gateway.runs.measurements import features_by_response
from biaswatch.services.gateway.runs.queries import RunQueries, no_run, pinned_extractors
from biaswatch.shared.contracts import (
    Features,
    LabelSample,
    Probe,
    Response,
    Run,
    Target,
    response_id_of,
)
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
    label_of,
    readings_table,
    side_by_side,
)
from biaswatch.shared.presentation.tables import csv_text
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import PlannedProbes, Store

PAGE_ANSWERS = 20
BATCH_ANSWERS = 100
MAX_SCANNED = 300
"""Answers that are searched for one page; the next page continues from there."""
MeasuredAnswer = tuple[Probe, Response | None, list[Features]]


@dataclass(frozen=True)
class AnswerPage:
    """Matching answers, and the cursor of the next page."""

    answers: tuple[AnswerView, ...]
    looked_through: int
    planned: int
    """Number of answers that match by group, set, target and scaffold."""
    after: str | None
    """The beginning of the next page; None at the end."""


@dataclass(frozen=True)
class AnswerQueries:
    """Blocking queries of answers; call them in a thread."""

    store: Store

    def run_with_probes(self, run_id: str) -> tuple[Run, PlannedProbes | None]:
        """Return a run and its plan, which a window of traffic does not have."""
        run = next(self.store.records.get(Run, [run_id]), None)
        if run is None:
            raise no_run(run_id)
        outline = self.store.suites.outline(run.suite_hash)
        return run, PlannedProbes(self.store.suites, outline, run) if outline else None

    def choices(
        self, run: Run, planned: PlannedProbes | None, reasons: Sequence[str]
    ) -> FilterChoices:
        """Return the options of the filter for a run's answers."""
        measured = [status for _, status in pinned_extractors(self.store, run) if status]
        if not measured and planned is None:
            measured = self.store.extractors.ever()
        groups = self.store.suites.groups(planned.suite_hash) if planned else []
        return FilterChoices(
            groups=tuple(group_name(group.dimension, group.group) for group in groups),
            targets=tuple(target.name for target in run.targets),
            scaffolds=run.scaffolds,
            features=tuple(
                f"{extractor.name}.{name}" for extractor in measured for name in extractor.features
            ),
            reasons=tuple(sorted(reasons)),
        )

    def _of_group(self, planned: PlannedProbes, name: str) -> PlannedProbes:
        """Return the part of a plan about a group, as the filter names it.

        Facts of questions have no index, so the whole plan is searched for a stratum.
        """
        groups = self.store.suites.groups(planned.suite_hash)
        dimension = name.partition("=")[0]
        if dimension in planned.strata and dimension not in {group.dimension for group in groups}:
            return planned
        return planned.of_groups(
            [group.number for group in groups if group_name(group.dimension, group.group) == name]
        )

    def page(self, run: Run, planned: PlannedProbes | None, wanted: AnswerFilter) -> AnswerPage:
        """Return the next matching answers."""
        if planned is None:
            return self._of_window(run, wanted)
        if wanted.set:
            planned = planned.of_sets([wanted.set]).narrowed(wanted.fits_groups)
        elif wanted.group:
            planned = self._of_group(planned, wanted.group)
        targets, scaffolds = _narrowed(run, wanted)
        total = planned.amount(len(targets), len(scaffolds))
        first = min(int(wanted.after), total) if wanted.after.isdecimal() else 0
        probes = islice(
            planned.read(run.at, first=first, targets=targets, scaffolds=scaffolds), MAX_SCANNED
        )
        views: list[AnswerView] = []
        is_selective = wanted.q or wanted.needs_measurements or wanted.group
        end, step = first, BATCH_ANSWERS if is_selective else PAGE_ANSWERS
        while len(views) < PAGE_ANSWERS and (batch := list(islice(probes, step))):
            for answer in self._matching(batch, wanted):
                end += 1
                if answer is not None:
                    views.append(answer_view(*answer))
                if len(views) == PAGE_ANSWERS:
                    break
        after = str(end) if end < total else None
        return AnswerPage(tuple(views), end - first, total, after)

    def twins(
        self, run: Run, planned: PlannedProbes | None, wanted: AnswerFilter
    ) -> list[AnswerView]:
        """Return the answers to all twins of a set, for one target and scaffold."""
        if planned is None or not wanted.set:
            return []
        targets, scaffolds = _narrowed(run, wanted)
        of_set = planned.of_sets([wanted.set]).narrowed(AnswerFilter(set=wanted.set).fits_groups)
        probes = list(of_set.read(run.at, targets=targets, scaffolds=scaffolds))
        return [answer_view(*answer) for answer in self._matching(probes, AnswerFilter()) if answer]

    def _of_window(self, run: Run, wanted: AnswerFilter) -> AnswerPage:
        """Return answers of production traffic, in the order of their ids."""
        total = self.store.records.count(Response, run_id=run.id)
        views: list[AnswerView] = []
        after, scanned = wanted.after, 0
        while scanned < MAX_SCANNED and len(views) < PAGE_ANSWERS:
            ids = self.store.records.ids_of_run(Response, run.id, after=after, most=BATCH_ANSWERS)
            stored = {response.id: response for response in self.store.records.get(Response, ids)}
            measured = features_by_response(self.store, ids)
            for id_ in ids:
                scanned, after = scanned + 1, id_
                response, features = stored[id_], measured.get(id_, [])
                if (
                    wanted.fits_probe(response.probe)
                    and wanted.fits_measurements(response, features)
                    and wanted.fits_texts(response)
                ):
                    views.append(answer_view(response.probe, response, features))
                if len(views) == PAGE_ANSWERS:
                    break
            if len(ids) < BATCH_ANSWERS and len(views) < PAGE_ANSWERS:
                return AnswerPage(tuple(views), scanned, total, None)
        return AnswerPage(tuple(views), scanned, total, after)

    def _matching(
        self, probes: Sequence[Probe], wanted: AnswerFilter
    ) -> Iterator[MeasuredAnswer | None]:
        """Yield for each probe its answer and measurements, or None if they do not match.

        Numbers are checked before texts, which take longer to read.
        """
        ids = {probe.id: response_id_of(probe) for probe in probes}
        kept = {probe.id: ids[probe.id] for probe in probes if wanted.fits_groups(probe)}
        if wanted.needs_measurements and not wanted.missing:
            chosen = features_by_response(self.store, kept.values(), extractor=wanted.extractor)
            kept = {
                probe: id_
                for probe, id_ in kept.items()
                if wanted.fits_measurements(None, chosen.get(id_, []))
            }
        stored = {
            response.id: response for response in self.store.records.get(Response, kept.values())
        }
        kept = {p: id_ for p, id_ in kept.items() if wanted.fits_texts(stored.get(id_))}
        measured = features_by_response(self.store, kept.values())
        for probe in probes:
            response = stored.get(ids[probe.id])
            features = measured.get(ids[probe.id], [])
            matches = probe.id in kept and wanted.fits_measurements(response, features)
            yield (probe, response, features) if matches else None


def _narrowed(run: Run, wanted: AnswerFilter) -> tuple[list[Target], list[str]]:
    """Return the targets and scaffolds of a run that the filter selects."""
    targets = [target for target in run.targets if wanted.target in ("", target.name)]
    return targets, [name for name in run.scaffolds if wanted.scaffold in ("", name)]


def router(ctx: GatewayContext) -> APIRouter:
    """Return the pages of answers, which refuse archived runs."""
    router = APIRouter(
        dependencies=[Depends(ctx.tokens.signed_in), Depends(ctx.require_unarchived)]
    )
    answers, runs = AnswerQueries(ctx.store), ctx.queries(RunQueries)
    page_forms = forms_with(ctx.tokens)

    @router.get("/runs/{run_id}/answers")
    def show_answers(
        run_id: str,
        wanted: Annotated[AnswerFilter, Query()],
        caller: Annotated[Caller, Depends(ctx.tokens.signed_in)],
        forms: Annotated[PageForms, Depends(page_forms)],
    ) -> HTMLResponse:
        run, planned = answers.run_with_probes(run_id)
        wanted = _permitted(wanted, caller)
        shown = page(
            "answers.html",
            scripts=(ANSWERS,),
            run=run,
            planned=planned is not None,
            wanted=wanted,
            texts=caller.texts,
            found=answers.page(run, planned, wanted),
            choices=answers.choices(run, planned, _reasons(runs, run_id)),
            forms=forms,
            samples=list(ctx.store.records.read(LabelSample, run_id=run_id)),
        )
        return forms.with_cookie(shown)

    @router.get("/runs/{run_id}/twins")
    def show_twins(
        run_id: str,
        wanted: Annotated[AnswerFilter, Query()],
        caller: Annotated[Caller, Depends(ctx.tokens.signed_in)],
        a: str = "",
        b: str = "",
        higher: str = "",
        lower: str = "",
    ) -> HTMLResponse:
        run, planned = answers.run_with_probes(run_id)
        wanted = wanted.model_copy(
            update={
                "target": wanted.target or run.targets[0].name,
                "scaffold": wanted.scaffold or run.scaffolds[0],
            }
        )
        twins = answers.twins(run, planned, wanted)
        a, b = a or label_of(twins, higher), b or label_of(twins, lower)
        return page(
            "twins.html",
            run=run,
            wanted=wanted,
            texts=caller.texts,
            pair=side_by_side(twins, a, b, texts=caller.texts),
            labels=[(twin.label, twin.about) for twin in twins],
            readings=readings_table(twins),
        )

    @router.get("/runs/{run_id}/answers.csv")
    async def download_answers(
        run_id: str,
        wanted: Annotated[AnswerFilter, Query()],
        caller: Annotated[Caller, Depends(ctx.tokens.signed_in)],
    ) -> StreamingResponse:
        run, planned = await in_thread(answers.run_with_probes, run_id)
        lines = _lines(answers, run, planned, _permitted(wanted, caller))
        return StreamingResponse(
            lines,
            media_type="text/csv; charset=utf-8",
            headers={**PAGE_HEADERS, "Content-Disposition": "attachment; filename=answers.csv"},
        )

    return router


def _permitted(wanted: AnswerFilter, caller: Caller) -> AnswerFilter:
    """Return the filter without words unless the caller may read texts."""
    return wanted if caller.texts else wanted.model_copy(update={"q": ""})


def _reasons(runs: RunQueries, run_id: str) -> list[str]:
    """Return the reasons for missing answers in a run's findings."""
    reasons = {
        reason
        for diagnosis in runs.diagnoses(run_id)
        for group in diagnosis.groups
        for reason in group.missing_reasons
    }
    return [ANY_REASON, *sorted(reasons - {ANY_REASON})]


def _lines(
    answers: AnswerQueries, run: Run, planned: PlannedProbes | None, wanted: AnswerFilter
) -> Iterator[str]:
    """Yield the lines of the file, page by page, so that no run has to fit into memory."""
    yield csv_text(FILE_TITLES, [])
    after: str | None = ""
    while after is not None:
        answer_page = answers.page(run, planned, wanted.model_copy(update={"after": after}))
        yield csv_text([], file_rows(answer_page.answers))
        after = answer_page.after
