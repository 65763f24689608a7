"""A run and its findings as a person reads them in a terminal, or as JSON."""

import json

import typer
from rich.console import Console

from biaswatch.local.run_results import RunResults
from biaswatch.render import assessments, findings, studies
from biaswatch.render.interpretations import brief_of
from biaswatch.render.tables import escape

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


def print_outcome(outcome: RunResults, *, as_json: bool) -> None:
    """Print how a run stands and what was found; the conclusions are what is read last."""
    if as_json:
        typer.echo(json.dumps(outcome.as_json(), indent=2))
        return
    stand = outcome.run
    console = Console()
    console.print(
        f"Run {stand['run_id']}: {stand['stand']}, {stand['responses']} of {stand['probes']}"
        " responses."
    )
    if why := STOPPED.get(stand.get("stopped_by") or ""):
        console.print(why)
    _print_interpreted(console, outcome)
    findings.show(console, outcome.diagnoses)
    assessments.show(console, outcome.assessments)
    studies.show(console, outcome.studies)
    if outcome.diagnoses or stand["responses"]:
        findings.conclude(console, outcome.diagnoses)
    else:
        console.print("There is no answer yet, so there is nothing to compare.")


def _print_interpreted(console: Console, outcome: RunResults) -> None:
    """Say what was written about the findings, and how to read it: it would push them away."""
    for each in outcome.interpretations:
        console.print(f"\nInterpreted and graded: {escape(each['about'])}.")
        console.print(f"The report is written: {escape(brief_of(each))}", highlight=False)
    if outcome.interpretations:
        judges = " ".join(f"--judge {each}" for each in DEMO_JUDGES)
        console.print(
            f"To read it: biaswatch report {outcome.run['run_id']} --interpret"
            f" --target {DEMO_WRITER} {judges}",
            soft_wrap=True,
        )
