"""A run and its findings on a terminal, or as JSON."""

import json
from collections.abc import Sequence
from itertools import groupby

import typer
from rich.console import Console

from biaswatch.local.runs import RunResults
from biaswatch.render.assessments import print_assessments
from biaswatch.render.interpretations import summary
from biaswatch.render.studies import print_studies
from biaswatch.render.terminal import escape, print_bullets, print_sentence, print_table, rich_table
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.formatting import counted, coverage
from biaswatch.shared.presentation.bias_scores import SCORES_MEAN, score_conclusions, score_lead
from biaswatch.shared.presentation.columns import Shown
from biaswatch.shared.presentation.conclusions import (
    dimension_notes,
    families_of,
    instrument_notes,
    means_sentence,
    overall_sentences,
    reservation_notes,
    strongest_conclusions,
)
from biaswatch.shared.presentation.corrections import correction_sentences
from biaswatch.shared.presentation.finding_tables import comparison_remarks, findings_table
from biaswatch.shared.presentation.findings import comparisons, group_rows
from biaswatch.shared.presentation.gap_columns import GAP_COLUMNS
from biaswatch.shared.presentation.group_columns import GROUP_COLUMNS
from biaswatch.shared.presentation.names import SHORT_ID_CHARS, ModelNames
from biaswatch.shared.presentation.run_summary import mostly_missing, run_summary, without_calls

DEMO_WRITER, DEMO_JUDGES = "simulator:unbiased", ("simulator:unbiased", "simulator:strict")
"""Models that interpret the demo; naming them again shows the stored report."""
MAX_COMPARISONS, MAX_GROUPS = 10, 24
"""Comparisons and groups of a run, unless all are requested."""


def print_results(results: RunResults, *, as_json: bool, everything: bool = False) -> None:
    """Print findings, the decisive sentence first, then the run and its numbers.

    Only `everything` includes the numbers of many comparisons, and statistics that decide nothing.
    """
    if as_json:
        typer.echo(json.dumps(results.as_json(), indent=2))
        return
    run, console = results.run, Console(emoji=False)
    if missing := mostly_missing(results.diagnoses):
        print_sentence(console, missing, style="bold")
    for sentence in without_calls(results.diagnoses):
        print_sentence(console, sentence, style="bold")
    if results.diagnoses or run.responses:
        _print_conclusions(console, results, everything=everything)
    else:
        console.print("No answers have arrived yet, so there is nothing to compare.")
    _print_run(console, results)
    gaps = sum(len(row.gaps) for row in results.diagnoses)
    groups = sum(len(row.groups) for row in results.diagnoses)
    if everything or (gaps <= MAX_COMPARISONS and groups <= MAX_GROUPS):
        print_diagnoses(console, results.diagnoses, everything=everything)
    print_assessments(console, results.assessments, everything=everything)
    if results.studies:
        print_studies(console, results.studies, everything=everything)
    _print_interpretations(console, results)
    if not everything:
        _print_command(
            console,
            f"\nAll numbers: biaswatch show {run.run_id[:SHORT_ID_CHARS]} --all"
            f"\nTo send on:  biaswatch report {run.run_id[:SHORT_ID_CHARS]} --format html"
            " -o report.html",
        )


def _print_conclusions(console: Console, results: RunResults, *, everything: bool) -> None:
    """Print the decisive sentences, the strongest conclusions, and their subject."""
    max_rows = None if everything else MAX_COMPARISONS
    compared = [row for row in results.diagnoses if not row.stratum]
    scores = score_conclusions(results.studies)
    if scores and results.studies:
        print_sentence(console, score_lead(results.studies.scores), style="bold")
        print_bullets(console, scores[:max_rows])
        print_sentence(console, SCORES_MEAN, style="dim")
    if compared or not scores:
        summary = run_summary(compared)
        print_sentence(console, summary.lead, style="bold")
        sentences, rest = strongest_conclusions(compared, max_rows)
        print_bullets(console, sentences)
        if rest:
            print_sentence(console, rest)
        compared = [] if summary.unmeasured_reason else compared
    if results.corrections:  # also of judges' verdicts, where nothing else is compared
        print_sentence(console, "As labels of people correct it:", style="bold")
        print_bullets(console, correction_sentences(results.corrections))
    for first in compared[:1]:
        corrected = first.family > 1 or families_of(compared) != families_of([first])
        tests = f"Family of {families_of(compared)}, Bonferroni-corrected"
        about = (
            f"{tests if corrected else counted(first.family, 'comparison')}, level {first.alpha:g}."
            f" About {first.claim}."
        )
        print_sentence(console, about, style="dim")


def _print_run(console: Console, results: RunResults) -> None:
    """Print the state of the run, its findable gaps, and where its answers are."""
    run = results.run
    print_sentence(
        console, f"Run {run.run_id}: {run.state}, {run.responses} of {run.probes} responses."
    )
    for problem in (*run.problems(), *(paused.in_words() for paused in run.paused)):
        print_sentence(console, problem)
    if run.archived:
        print_sentence(console, run.archived)
    if results.findable:
        print_sentence(console, "How small a gap it could have found, by its own tests:")
        print_bullets(console, (row.in_words() for row in results.findable))
    has_missing = any(group.missing for row in results.diagnoses for group in row.groups)
    if run.ended and run.responses and (has_missing or run.responses < run.probes):
        console.print("Its answers, and why others are missing:")
        _print_command(console, f"  biaswatch export {run.run_id[:SHORT_ID_CHARS]} -o answers.csv")


def _print_interpretations(console: Console, results: RunResults) -> None:
    """Print the grades of written reports, and the command for their texts."""
    for row in results.interpretations:
        console.print()
        lead = "There is no report" if row.evaluation.reason else "The report is written"
        print_sentence(console, f"Interpreted and graded: {row.about}.")
        print_sentence(console, f"{lead}: {summary(row.evaluation)}")
    if results.interpretations:
        judges = " ".join(f"--judge {judge}" for judge in DEMO_JUDGES)
        _print_command(
            console,
            f"To read it:\n  biaswatch report {results.run.run_id[:SHORT_ID_CHARS]} --interpret"
            f" --target {DEMO_WRITER} \\\n    {judges}",
        )


def _print_command(console: Console, text: str) -> None:
    console.print(text, soft_wrap=True, highlight=False)


def print_diagnoses(
    console: Console, diagnoses: Sequence[Diagnosis], *, everything: bool = True
) -> None:
    """Print the numbers of each model: gaps and means, or `everything` about each group."""
    printed: set[str] = set()  # a remark about several models is printed once
    for title, group in groupby(diagnoses, key=ModelNames.among(diagnoses).of):
        rows = [row for row in group if any(summary.units for summary in row.groups)]
        if not rows:
            continue
        console.print(f"\n[bold]{escape(title)}[/]", soft_wrap=True)
        if gaps := [gap for row in rows for gap in comparisons([row])]:
            table = findings_table(GAP_COLUMNS, gaps, Shown.TERMINAL, coverage(rows[0].alpha))
            print_table(console, rich_table(table))
            remarks = [remark for remark in comparison_remarks(rows) if remark not in printed]
            printed.update(remarks)
            for remark in remarks:
                print_sentence(console, remark, style="dim")
        if everything:
            _print_groups(console, rows)
        else:
            _print_means(console, rows)


def _print_means(console: Console, rows: Sequence[Diagnosis]) -> None:
    """Print each group's mean, and the limits of the numbers."""
    for row in rows:
        for sentence in (means_sentence(row), *reservation_notes(row), *instrument_notes(row)):
            print_sentence(console, sentence, style="dim")


def _print_groups(console: Console, rows: Sequence[Diagnosis]) -> None:
    """Print each group's numbers, and statistics outside the verdicts."""
    console.print()
    for row in rows:
        console.print(f"[bold]{escape(f'{row.feature} by {row.dimension}')}[/]", soft_wrap=True)
        table = findings_table(
            GROUP_COLUMNS, group_rows([row]), Shown.TERMINAL, coverage(row.alpha)
        )
        print_table(console, rich_table(table), "")
    overall = (sentence for row in rows for sentence in overall_sentences(row))
    for note in (*overall, *(note for row in rows for note in dimension_notes(row))):
        print_sentence(console, note, style="dim")
