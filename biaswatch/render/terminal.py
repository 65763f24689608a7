"""A run and its findings as a person reads them in a terminal, or as JSON."""

import json
from collections.abc import Sequence
from itertools import groupby

import typer
from rich.console import Console

from biaswatch.local.run_results import RunResults
from biaswatch.render.assessments import print_assessments
from biaswatch.render.bias_scores import SCORES_MEAN, score_conclusions
from biaswatch.render.columns import GAP_COLUMNS, GROUP_COLUMNS, gap_rows, group_rows
from biaswatch.render.findings import NOTHING_TO_COMPARE, conclusions, dimension_notes, target_name
from biaswatch.render.interpretations import summary
from biaswatch.render.studies import print_studies
from biaswatch.render.tables import escape, findings_table
from shared.contracts import Diagnosis
from shared.formatting import coverage

STOPPED = {
    "budget_spent": "Its budget is spent. The same command with a larger one goes on from here.",
    "usage_unknown": "A provider does not say how many tokens it used, so a budget of tokens cannot"
    " be kept. Without --max-tokens the same command goes on from here.",
    "no_price": "A price is not known, so a budget in money cannot be kept. Put it into the file"
    " that BIASWATCH_PRICES_FILE names; the same command goes on from here.",
}
"""Why a run was stopped, where nobody cancelled it."""
DEMO_WRITER, DEMO_JUDGES = "simulator:unbiased", ("simulator:unbiased", "simulator:strict")
"""Who interprets the demo; the report is read again by naming them."""
LEAST_WIDTH = 76
"""A narrower terminal folds whole lines; a column of one letter a line cannot be read."""


def print_results(results: RunResults, *, as_json: bool) -> None:
    """Print how far a run is and what was found; the conclusions are what is read last."""
    if as_json:
        typer.echo(json.dumps(results.as_json(), indent=2))
        return
    run = results.run
    console = Console(emoji=False)
    console.print(f"Run {run.run_id}: {run.stand}, {run.responses} of {run.probes} responses.")
    if why := STOPPED.get(run.stopped_by or ""):
        console.print(why)
    for paused in run.paused:
        console.print(escape(paused.in_words()), highlight=False)
    _print_interpretations(console, results)
    print_diagnoses(console, results.diagnoses)
    print_assessments(console, results.assessments)
    if results.studies:
        print_studies(console, results.studies)
    if results.diagnoses or run.responses:
        _print_conclusions(console, results)
    else:
        console.print("There is no answer yet, so there is nothing to compare.")


def _print_interpretations(console: Console, results: RunResults) -> None:
    """Print what was made of the written reports, and how to read them: they are long."""
    for each in results.interpretations:
        console.print(f"\nInterpreted and graded: {escape(each.about)}.")
        console.print(f"The report is written: {escape(summary(each.evaluation))}", highlight=False)
    if results.interpretations:
        judges = " ".join(f"--judge {each}" for each in DEMO_JUDGES)
        console.print(
            f"To read it: biaswatch report {results.run.run_id} --interpret"
            f" --target {DEMO_WRITER} {judges}",
            soft_wrap=True,
        )


def print_diagnoses(console: Console, diagnoses: Sequence[Diagnosis]) -> None:
    """Print the numbers of each target: gaps, groups, missing answers."""
    for title, some in groupby(diagnoses, key=target_name):
        found = list(some)
        level = coverage(found[0].alpha)
        gaps = [row for each in found for row in gap_rows(each)]
        groups = [row for each in found for row in group_rows(each)]
        console.print(f"\n[bold]{escape(title)}[/]")
        width, console.width = console.width, max(console.width, LEAST_WIDTH)
        if gaps:
            console.print(findings_table(GAP_COLUMNS, gaps, level), "")
        console.print(findings_table(GROUP_COLUMNS, groups, level), "")
        console.width = width
        for line in (line for diagnosis in found for line in dimension_notes(diagnosis)):
            console.print(f"[dim]{escape(line)}[/]")


def _print_conclusions(console: Console, results: RunResults) -> None:
    """Print the conclusions and what they are about; they are what is read last."""
    scores = score_conclusions(results.studies)
    compared = [each for each in results.diagnoses if not each.stratum]
    if not (scores or compared):
        console.print(NOTHING_TO_COMPARE)
    for sentence in (*scores, *conclusions(compared)):
        console.print(f"• {escape(sentence)}")
    if scores:
        console.print(f"[dim]{SCORES_MEAN}[/]")
    for first in compared[:1]:
        console.print(
            f"[dim]Family of {first.family} comparisons, Bonferroni-corrected, level"
            f" {first.alpha:g}. About {escape(first.claim)}.[/dim]"
        )
