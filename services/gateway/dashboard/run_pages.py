"""Pages of a run and of two compared runs, and their tables as files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.dashboard.forms import PageForms, forms_with
from biaswatch.services.gateway.dashboard.rendering import GROUP_ROWS, LIVE, csv_file, page
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.runs.measurements import GroupValueQueries
from biaswatch.services.gateway.runs.provenance import InterpretationQueries, ProvenanceQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.runs.studies import StudyQueries
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.presentation.bias_scores import SCORES_MEAN, score_lead, scores_table
from biaswatch.shared.presentation.columns import comparisons_table, disparities_table, groups_table
from biaswatch.shared.presentation.comparison_tables import (
    compared_runs,
    compared_table,
    matrices_of,
)
from biaswatch.shared.presentation.conclusions import certainty
from biaswatch.shared.presentation.corrections import correction_sentences, error_tables
from biaswatch.shared.presentation.findings import comparisons, title_of
from biaswatch.shared.presentation.names import STATEMENTS, ModelNames
from biaswatch.shared.presentation.overview import live_run
from biaswatch.shared.presentation.plots import histogram_plot, means_plot
from biaswatch.shared.presentation.run_summary import run_summary
from biaswatch.shared.presentation.tables import Table
from biaswatch.shared.requests.labels import SampleProgress
from biaswatch.shared.requests.run_views import RunProgress

RELOAD_S = 30
MOST_PAIRS = 20
"""Flagged pairs on the page; the report has more."""
MOST_ROWS = 40
"""Comparisons of one finding on the page; the file has all."""


def run_page_routes(
    runs: RunQueries,
    provenances: ProvenanceQueries,
    group_values: GroupValueQueries,
    studies: StudyQueries,
    labels: LabelQueries,
    interpretations: InterpretationQueries,
    tokens: Tokens,
) -> APIRouter:
    """Return the page of a run, and its tables."""
    router = APIRouter(dependencies=[Depends(tokens.signed_in)])
    page_forms = forms_with(tokens)

    @router.get("/runs/{run_id}")
    def show_run(
        run_id: str,
        forms: Annotated[PageForms, Depends(page_forms)],
        finding: str = "",
        *,
        live: bool = False,
    ) -> HTMLResponse:
        progress = runs.progress(run_id)
        diagnoses = runs.diagnoses(run_id)
        chosen, names = _chosen(diagnoses, finding), ModelNames.among(diagnoses)
        run = runs.run(run_id)
        values = group_values.values(run, chosen) if chosen else None
        flagged = (
            studies.first_flagged(run_id, MOST_PAIRS)
            if run.judging and not progress.archived
            else (0, [])
        )
        scores = _scores(studies, progress) if progress.ended else None
        shown = page(
            "run.html",
            scripts=(GROUP_ROWS,) if progress.ended else (GROUP_ROWS, LIVE),
            shape=live_run(progress).shape,
            forms=forms,
            reload_s=RELOAD_S if live and not progress.ended else None,
            live=None if progress.ended else live,
            run=progress,
            summary=run_summary(diagnoses),
            certainty=list(certainty([each for each in diagnoses if each.gaps])),
            scores=scores,
            unscored=progress.ended and not scores and studies.has_scores(run_id),
            labels=_labels(labels, run_id),
            matrices=matrices_of(diagnoses),
            chosen=chosen,
            choices=[(each.id, f"{title_of(each)} · {names.of(each)}") for each in diagnoses],
            chosen_model=names.of(chosen) if chosen else None,
            forest=means_plot(chosen) if chosen else None,
            values=values,
            spreads=histogram_plot(chosen, values.values) if chosen and values else None,
            comparisons=comparisons_table([chosen], run_id, max_rows=MOST_ROWS) if chosen else None,
            disparities=disparities_table([chosen]) if chosen else None,
            groups=groups_table([chosen], run_id) if chosen else None,
            flagged=flagged,
            pair_names=ModelNames.among(flagged[1]),
            statements=STATEMENTS,
            interpretations=interpretations.of_run(run_id),
            provenance=provenances.behind(run_id, diagnoses),
        )
        return forms.kept_by(shown)

    @router.get("/runs/{run_id}/comparisons.csv")
    def download_comparisons(run_id: str) -> Response:
        return csv_file(comparisons_table(runs.diagnoses(run_id), run_id), "comparisons")

    @router.get("/runs/{run_id}/groups.csv")
    def download_groups(run_id: str) -> Response:
        return csv_file(groups_table(runs.diagnoses(run_id), run_id), "groups")

    return router


@dataclass(frozen=True)
class RunScores:
    """What a run's page shows of bias scores."""

    lead: str
    mean: str
    table: Table


def _scores(studies: StudyQueries, progress: RunProgress) -> RunScores | None:
    if not (found := studies.scores(progress)):
        return None
    return RunScores(score_lead(found), SCORES_MEAN, scores_table(found))


@dataclass(frozen=True)
class RunLabels:
    """What a run's page shows of labels."""

    samples: list[SampleProgress]
    sentences: list[str]
    errors: list[Table]
    behind: bool


def _labels(labels: LabelQueries, run_id: str) -> RunLabels:
    samples, found = labels.of_run(run_id)
    return RunLabels(
        samples=samples,
        sentences=correction_sentences(found.corrections),
        errors=error_tables(found.corrections),
        behind=found.behind,
    )


def _chosen(diagnoses: Sequence[Diagnosis], wanted: str) -> Diagnosis | None:
    """Return the finding that is asked for, or the one whose comparisons say the most."""
    for each in diagnoses:
        if each.id == wanted:
            return each
    strongest = comparisons(diagnoses)[:1]
    return strongest[0].diagnosis if strongest else next(iter(diagnoses), None)


MOST_RUNS = 25
MOST_COMPARED = 60
NAME = Query(max_length=300)


def comparison_routes(runs: RunQueries, tokens: Tokens) -> APIRouter:
    """Return the page of two runs, and its table as a file."""
    router = APIRouter(dependencies=[Depends(tokens.signed_in)])

    @router.get("/compare")
    def show_comparison(
        before: Annotated[str, NAME] = "", after: Annotated[str, NAME] = ""
    ) -> HTMLResponse:
        known = runs.latest(MOST_RUNS)
        found = None
        if before and after:
            found = compared_runs(runs.diagnoses(before), runs.diagnoses(after))
        return page(
            "compare.html",
            before=before,
            after=after,
            choices=[
                (each.run_id, f"{each.suite}, {each.at:%Y-%m-%d %H:%M}, {', '.join(each.targets)}")
                for each in known
            ],
            found=found,
            table=compared_table(found, MOST_COMPARED) if found else None,
        )

    @router.get("/compare.csv")
    def download_comparison(before: Annotated[str, NAME], after: Annotated[str, NAME]) -> Response:
        found = compared_runs(runs.diagnoses(before), runs.diagnoses(after))
        return csv_file(compared_table(found), "compared")

    return router
