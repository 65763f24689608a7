"""Pages of a run and of two compared runs, and their tables as files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.dashboard.page_forms import PageForms, forms_with
from biaswatch.services.gateway.dashboard.rendering import (
    GROUP_ROWS,
    LIVE,
    PRINT,
    TABLES,
    csv_file,
    page,
    page_file,
)
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.references import IdReferences
from biaswatch.services.gateway.runs.group_values import GroupValueQueries, SetGap
from biaswatch.services.gateway.runs.provenance import InterpretationQueries, ProvenanceQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.runs.studies import StudyQueries
from biaswatch.shared.analysis.findings.twins import PLACEBO
from biaswatch.shared.contracts import Diagnosis, Run
from biaswatch.shared.presentation.bias_scores import SCORES_MEAN, score_lead, scores_table
from biaswatch.shared.presentation.board import BoardPage, board_page
from biaswatch.shared.presentation.comparison_tables import (
    compared_runs,
    compared_table,
    matrices_of,
    slopes_of,
)
from biaswatch.shared.presentation.conclusions import certainty
from biaswatch.shared.presentation.corrections import correction_sentences, error_tables
from biaswatch.shared.presentation.finding_tables import (
    comparison_remarks,
    comparisons_table,
    groups_table,
)
from biaswatch.shared.presentation.findings import ComparisonView, comparisons, title_of
from biaswatch.shared.presentation.forests import against, reference_groups, run_forests
from biaswatch.shared.presentation.group_tables import disparities_table, parities_table
from biaswatch.shared.presentation.interactions import tested_interactions
from biaswatch.shared.presentation.leaderboard import leaderboard
from biaswatch.shared.presentation.live_numbers import live_run
from biaswatch.shared.presentation.names import STATEMENTS, ModelNames
from biaswatch.shared.presentation.plots import histogram_plot, means_plot
from biaswatch.shared.presentation.run_summary import run_summary
from biaswatch.shared.presentation.slopes import slope_figure
from biaswatch.shared.presentation.tables import Table
from biaswatch.shared.requests.labels import SampleProgress
from biaswatch.shared.requests.run_views import RunProgress, Scores

RELOAD_S = 30
MAX_PAIRS = 20
"""Flagged pairs on the page; the report has all."""
MAX_ROWS = 20
"""Comparisons of one finding on the page; the file has all."""
MAX_CHOICES = 25
MAX_SET_GAPS = 10
"""Sets with the largest gaps on the page."""
MAX_COMPARED = 60
MAX_SIDE_BY_SIDE = 50
NAME = Query(max_length=300)


def router(ctx: GatewayContext, studies: StudyQueries) -> APIRouter:
    """Return the pages of runs, and their tables."""
    router = APIRouter(dependencies=[Depends(ctx.tokens.signed_in)])
    page_forms, runs = forms_with(ctx.tokens), ctx.queries(RunQueries)
    shown = ShownRuns(
        runs,
        studies,
        ProvenanceQueries(ctx.store, runs),
        GroupValueQueries(ctx.store, runs),
        LabelQueries(ctx.store, runs),
        InterpretationQueries(ctx.store),
    )

    @router.get("/runs/{run_id}")
    def show_run(
        run_id: str,
        forms: Annotated[PageForms, Depends(page_forms)],
        finding: str = "",
        reference: Annotated[str, NAME] = "",
        *,
        live: bool = False,
    ) -> HTMLResponse:
        progress = runs.progress(run_id)
        return forms.with_cookie(
            page(
                "run.html",
                scripts=(GROUP_ROWS, TABLES) if progress.ended else (GROUP_ROWS, TABLES, LIVE),
                shape=live_run(progress).shape,
                forms=forms,
                reload_s=RELOAD_S if live and not progress.ended else None,
                live=None if progress.ended else live,
                **shown.results(progress, finding, reference, may_start=forms.allowed),
            )
        )

    @router.get("/runs/{run_id}/board")
    def show_board(run_id: str) -> HTMLResponse:
        return page("board.html", scripts=(PRINT,), run_id=run_id, board=shown.board(run_id))

    @router.get("/runs/{run_id}/board.html")
    def download_board(run_id: str) -> Response:
        return page_file("board.html", "board", run_id=run_id, board=shown.board(run_id))

    @router.get("/runs/{run_id}/comparisons.csv")
    def download_comparisons(run_id: str) -> Response:
        return csv_file(comparisons_table(runs.diagnoses(run_id), run_id), "comparisons")

    @router.get("/runs/{run_id}/groups.csv")
    def download_groups(run_id: str) -> Response:
        return csv_file(groups_table(runs.diagnoses(run_id), run_id), "groups")

    router.include_router(_comparison_routes(runs, IdReferences(ctx.store)))
    return router


@dataclass(frozen=True)
class ShownRuns:
    """Reads what the pages of a run show."""

    runs: RunQueries
    studies: StudyQueries
    provenance: ProvenanceQueries
    group_values: GroupValueQueries
    labels: LabelQueries
    interpretations: InterpretationQueries

    def board(self, run_id: str) -> BoardPage:
        """Return the page for readers who decide."""
        diagnoses = self.runs.diagnoses(run_id)
        behind = self.provenance.behind(run_id, diagnoses)
        return board_page(self.runs.progress(run_id), diagnoses, behind.about, behind.ranges)

    def results(
        self, progress: RunProgress, finding: str, reference: str, *, may_start: bool
    ) -> dict[str, Any]:
        """Return the fields of the page of a run, with one finding in detail."""
        run_id = progress.run_id
        run, diagnoses = self.runs.run(run_id), against(self.runs.diagnoses(run_id), reference)
        rows, names = comparisons(diagnoses), ModelNames.among(diagnoses)
        scores = self.studies.scores(progress) if progress.ended else []
        compared = [diagnosis for diagnosis in diagnoses if diagnosis.gaps]
        return {
            "run": progress,
            "summary": run_summary(diagnoses, rows),
            "forests": run_forests(rows, f"/runs/{run_id}"),
            "references": reference_groups(diagnoses),
            "has_placebo": any(row.dimension == PLACEBO for row in diagnoses),
            "again": _again(run) if may_start and run.suite_hash else "",
            "reference": reference,
            "certainty": list(certainty(compared, rows)),
            "scores": _shown_scores(scores),
            "unscored": progress.ended and not scores and self.studies.is_scored(run_id),
            "labels": _shown_labels(self.labels, run_id),
            "matrices": matrices_of(diagnoses, rows),
            "choices": [
                (diagnosis.id, f"{title_of(diagnosis)} · {names.of(diagnosis)}")
                for diagnosis in diagnoses
            ],
            "parities": parities_table(diagnoses),
            "interactions": [
                f"{names.of(row)}: {text}" for row in diagnoses for text in tested_interactions(row)
            ],
            "statements": STATEMENTS,
            "interpretations": self.interpretations.of_run(run_id),
            "provenance": self.provenance.behind(run_id, diagnoses),
            **self._finding(run, _chosen(diagnoses, rows, finding), names),
            **self._pairs(run, has_pairs=run.judging is not None and not progress.archived),
        }

    def _finding(self, run: Run, chosen: Diagnosis | None, names: ModelNames) -> dict[str, Any]:
        """Return the fields of one finding."""
        values, set_gaps = None, list[SetGap]()
        if chosen:
            values, set_gaps = self.group_values.with_set_gaps(run, chosen, MAX_SET_GAPS)
        return {
            "chosen": chosen,
            "chosen_model": names.of(chosen) if chosen else None,
            "forest": means_plot(chosen) if chosen else None,
            "values": values,
            "set_gaps": set_gaps,
            "spreads": histogram_plot(chosen, values.values) if chosen and values else None,
            "comparisons": comparisons_table([chosen], run.id, max_rows=MAX_ROWS)
            if chosen
            else None,
            "remarks": comparison_remarks([chosen]) if chosen else [],
            "disparities": disparities_table([chosen]) if chosen else None,
            "groups": groups_table([chosen], run.id) if chosen else None,
        }

    def _pairs(self, run: Run, *, has_pairs: bool) -> dict[str, Any]:
        """Return the fields of judged pairs."""
        flagged = self.studies.first_flagged(run.id, MAX_PAIRS) if has_pairs else (0, [])
        return {
            "flagged": flagged,
            "agreement": self.studies.agreement(run) if has_pairs else [],
            "pair_names": ModelNames.among(flagged[1]),
        }


def _again(run: Run) -> str:
    """Return the query of the form that starts the same run again."""
    models = [("model", target.name) for target in run.targets]
    return urlencode([("suite", run.suite_hash or ""), *models, ("repeats", run.repeats)])


@dataclass(frozen=True)
class ShownScores:
    """Bias scores as a run's page shows them."""

    lead: str
    mean: str
    table: Table


def _shown_scores(scores: Sequence[Scores]) -> ShownScores | None:
    return ShownScores(score_lead(scores), SCORES_MEAN, scores_table(scores)) if scores else None


@dataclass(frozen=True)
class ShownLabels:
    """Labels as a run's page shows them."""

    samples: list[SampleProgress]
    sentences: list[str]
    errors: list[Table]
    behind: bool


def _shown_labels(labels: LabelQueries, run_id: str) -> ShownLabels:
    samples, corrected = labels.of_run(run_id)
    return ShownLabels(
        samples=samples,
        sentences=correction_sentences(corrected.corrections),
        errors=error_tables(corrected.corrections),
        behind=corrected.behind,
    )


def _chosen(
    diagnoses: Sequence[Diagnosis], rows: Sequence[ComparisonView], wanted: str
) -> Diagnosis | None:
    """Return the requested finding, or the one with the strongest comparison."""
    for diagnosis in diagnoses:
        if diagnosis.id == wanted:
            return diagnosis
    return rows[0].diagnosis if rows else next(iter(diagnoses), None)


def _run_choice(run: RunProgress) -> str:
    """Return what distinguishes a run in a list; phones cut off its end."""
    return f"{run.at:%Y-%m-%d %H:%M}, {', '.join(run.targets)}, {run.described.name or run.suite}"


def _comparison_routes(runs: RunQueries, references: IdReferences) -> APIRouter:
    """Return the page of two runs, and its table as a file."""
    router = APIRouter()

    @router.get("/compare")
    def show_comparison(
        before: Annotated[str, NAME] = "",
        after: Annotated[str, NAME] = "",
        run: Annotated[list[str], Query(max_length=MAX_SIDE_BY_SIDE)] = [],  # noqa: B006 - read only
    ) -> HTMLResponse:
        latest, compared = runs.latest(MAX_CHOICES), None
        before, after = (references.run(one) if one else "" for one in (before, after))
        picked = list(dict.fromkeys(map(references.run, run)))
        many = [(runs.progress(id_), runs.diagnoses(id_)) for id_ in picked]
        both: tuple[list[Diagnosis], list[Diagnosis]] = [], []
        if before and after:
            both = runs.diagnoses(before), runs.diagnoses(after)
            compared = compared_runs(*both)
        return page(
            "compare.html",
            scripts=(TABLES,),
            before=before,
            after=after,
            choices=[(run.run_id, _run_choice(run)) for run in latest],
            picked=picked,
            board=leaderboard(many) if many else None,
            found=compared,
            table=compared_table(compared, MAX_COMPARED) if compared else None,
            pictures=[
                slope_figure(title, slopes, tolerance)
                for title, tolerance, slopes in (slopes_of(compared) if compared else ())
            ],
            leads=[
                (when, _run_choice(runs.progress(run_id)), run_summary(rows))
                for when, run_id, rows in zip(
                    ("Before", "After"), (before, after), both, strict=True
                )
                if compared
            ],
        )

    @router.get("/compare.csv")
    def download_comparison(before: Annotated[str, NAME], after: Annotated[str, NAME]) -> Response:
        both = (runs.diagnoses(references.run(run)) for run in (before, after))
        compared = compared_runs(*both)
        return csv_file(compared_table(compared), "compared")

    return router
