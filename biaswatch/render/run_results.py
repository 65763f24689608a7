"""A run and its findings as a person reads them in a terminal, or as JSON."""

import json
from collections.abc import Sequence
from itertools import groupby

import typer
from rich.console import Console

from biaswatch.local.runs import RunResults
from biaswatch.render.assessments import print_assessments
from biaswatch.render.interpretations import summary
from biaswatch.render.studies import print_studies
from biaswatch.render.tables import escape, findings_table, print_sentence, print_table
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.formatting import coverage
from biaswatch.shared.presentation.bias_scores import SCORES_MEAN, score_conclusions, score_lead
from biaswatch.shared.presentation.columns import GAP_COLUMNS, GROUP_COLUMNS, gap_rows, group_rows
from biaswatch.shared.presentation.conclusions import (
    dimension_notes,
    lead,
    overall_sentences,
    strongest_conclusions,
)
from biaswatch.shared.presentation.corrections import correction_sentences
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.run_summary import run_summary

DEMO_WRITER, DEMO_JUDGES = "simulator:unbiased", ("simulator:unbiased", "simulator:strict")
"""Who interprets the demo; the report is read again by naming them."""
MOST_COMPARED, MOST_GROUPS = 10, 24
"""So many comparisons and groups are shown unless all are asked for."""
SHORT_ID = 12
"""So much of a run's id names it."""


def print_results(results: RunResults, *, as_json: bool, everything: bool = False) -> None:
    """Print what was found, the decisive sentence first, then the run and its numbers.

    Of more than a few comparisons the numbers are printed only if `everything` is asked for.
    """
    if as_json:
        typer.echo(json.dumps(results.as_json(), indent=2))
        return
    run = results.run
    console = Console(emoji=False)
    if results.diagnoses or run.responses:
        _print_conclusions(console, results, everything=everything)
    else:
        console.print("There is no answer yet, so there is nothing to compare.")
    _print_run(console, results)
    whole = everything or _is_short(results)
    if whole:
        print_diagnoses(console, results.diagnoses)
    print_assessments(console, results.assessments, everything=everything)
    if results.studies:
        print_studies(console, results.studies, everything=everything)
    _print_interpretations(console, results)
    if not whole:
        console.print(
            f"\nAll of it:   biaswatch show {run.run_id[:SHORT_ID]} --all"
            f"\nTo send on:  biaswatch report {run.run_id[:SHORT_ID]} --format html"
            " -o report.html",
            soft_wrap=True, highlight=False,
        )  # fmt: skip


def _print_run(console: Console, results: RunResults) -> None:
    """Print how the run stands, what it could have found, and where its answers are."""
    run = results.run
    said = f"Run {run.run_id}: {run.stand}, {run.responses} of {run.probes} responses."
    print_sentence(console, said)
    for problem in run.problems():
        print_sentence(console, problem)
    for paused in run.paused:
        print_sentence(console, paused.in_words())
    if run.archived:
        print_sentence(console, run.archived)
    _print_findable(console, results)
    if run.ended and run.responses and _lacks_answers(results):
        console.print("Its answers, and why others are missing:")
        console.print(
            f"  biaswatch export {run.run_id[:SHORT_ID]} -o answers.csv",
            soft_wrap=True, highlight=False,
        )  # fmt: skip


def _print_findable(console: Console, results: RunResults) -> None:
    """Print how small a gap a run that found none could have found."""
    if results.findable:
        print_sentence(console, "How small a gap it could have found, by its own tests:")
        for each in results.findable:
            print_sentence(console, each.in_words(), bullet="• ")


def _lacks_answers(results: RunResults) -> bool:
    """Tell whether answers have not come, or came without what was to be measured."""
    missing = any(each.missing for found in results.diagnoses for each in found.groups)
    return missing or results.run.responses < results.run.probes


def _is_short(results: RunResults) -> bool:
    gaps = sum(len(each.gaps) for each in results.diagnoses)
    groups = sum(len(each.groups) for each in results.diagnoses)
    return gaps <= MOST_COMPARED and groups <= MOST_GROUPS


def _print_interpretations(console: Console, results: RunResults) -> None:
    """Print what was made of the written reports, and how to read them: they are long."""
    for each in results.interpretations:
        console.print()
        print_sentence(console, f"Interpreted and graded: {each.about}.")
        print_sentence(console, f"The report is written: {summary(each.evaluation)}")
    if results.interpretations:
        judges = " ".join(f"--judge {each}" for each in DEMO_JUDGES)
        console.print(
            f"To read it:\n  biaswatch report {results.run.run_id[:SHORT_ID]} --interpret"
            f" --target {DEMO_WRITER} \\\n    {judges}",
            soft_wrap=True, highlight=False,
        )  # fmt: skip


def print_diagnoses(console: Console, diagnoses: Sequence[Diagnosis]) -> None:
    """Print the numbers of each target: gaps, groups, missing answers."""
    for title, some in groupby(diagnoses, key=ModelNames.among(diagnoses).of):
        found = list(some)
        level = coverage(found[0].alpha)
        gaps = [row for each in found for row in gap_rows(each)]
        console.print(f"\n[bold]{escape(title)}[/]", soft_wrap=True)
        if gaps:
            print_table(console, findings_table(GAP_COLUMNS, gaps, level), "")
        for each in found:
            said = f"{each.feature} by {each.dimension}"
            console.print(f"[bold]{escape(said)}[/]", soft_wrap=True)
            print_table(console, findings_table(GROUP_COLUMNS, group_rows(each), level), "")
        overall = (line for each in found for line in overall_sentences(each))
        for line in (*overall, *(line for each in found for line in dimension_notes(each))):
            print_sentence(console, line, style="dim")


def _print_conclusions(console: Console, results: RunResults, *, everything: bool) -> None:
    """Print the decisive sentences, the conclusions that say the most, what they are about."""
    most = None if everything else MOST_COMPARED
    compared = [each for each in results.diagnoses if not each.stratum]
    scores = score_conclusions(results.studies)
    if scores:
        print_sentence(
            console, score_lead(results.studies.scores if results.studies else []), style="bold"
        )
        _print_bullets(console, scores[:most])
        print_sentence(console, SCORES_MEAN, style="dim")
    if compared or not scores:
        print_sentence(console, lead(run_summary(compared)), style="bold")
        said, rest = strongest_conclusions(compared, most)
        _print_bullets(console, said)
        if rest:
            print_sentence(console, rest)
    if results.corrections:  # also of what judges said, where nothing else is compared
        print_sentence(console, "As labels of people correct it:", style="bold")
        _print_bullets(console, correction_sentences(results.corrections))
    for first in compared[:1]:
        about = (
            f"Family of {first.family} comparisons, Bonferroni-corrected, level"
            f" {first.alpha:g}. About {first.claim}."
        )
        print_sentence(console, about, style="dim")


def _print_bullets(console: Console, sentences: Sequence[str]) -> None:
    for sentence in sentences:
        print_sentence(console, sentence, bullet="• ")
