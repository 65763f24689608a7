"""The verbs `runs`, `show` and `stop`, for runs that exist."""

from typing import Annotated

import typer
from rich.console import Console

from biaswatch.checks import checked_diagnoses
from biaswatch.cli.options import (
    CountFailed,
    Everything,
    FailOn,
    Json,
    MinMeasured,
    RunId,
    ask,
    check_rule,
    end_check,
)
from biaswatch.local.client import GatewayClient
from biaswatch.local.runs import RunResults, run_results, whole_run_id
from biaswatch.planning.findable_gaps import with_findable
from biaswatch.render.run_results import print_results
from biaswatch.render.terminal import print_json, print_sentence
from biaswatch.shared.contracts import Purpose
from biaswatch.shared.requests.run_views import RunProgress


def runs(
    last: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 100,
    purpose: Annotated[
        Purpose, typer.Option(help="Also rounds of monitors and windows of traffic.")
    ] = Purpose.STUDY,
    as_json: Json = False,
) -> None:
    """List the runs, the latest first."""
    listed = ask(lambda client: client.runs(last, purpose=purpose, found="true"))
    if as_json:
        print_json(listed)
        return
    if not listed:
        typer.echo("There are no runs yet.")
        return
    typer.echo(f"{'run':<32}  {'state':<10}  {'responses':<13}  disparities")
    console = Console(emoji=False)
    for run in listed:
        answered = f"{run.responses}/{run.probes}"
        typer.echo(f"{run.run_id}  {run.state:<10}  {answered:<13}  {_disparities(run)}")
        about = f"{run.suite}, {run.at:%Y-%m-%d %H:%M} UTC: {', '.join(run.targets)}"
        for sentence in (about, *(paused.in_words() for paused in run.paused)):
            print_sentence(console, sentence, bullet="    ")


def _disparities(run: RunProgress) -> str:
    """Return the number of disparities of a run, or the reason for a missing number."""
    if not run.found:
        return "no groups compared" if run.ended else "not yet"
    unmeasured, comparisons = run.found.unmeasured, run.found.comparisons
    if unmeasured == comparisons:
        return "not measured"
    undecided = run.found.undecided
    suffix = f", {undecided} inconclusive" if undecided else ""
    suffix += f", {unmeasured} not measured" if unmeasured else ""
    return f"{run.found.disparities} of {comparisons}{suffix}"


def show(
    run_id: RunId,
    everything: Everything = False,
    count_failed_judges: CountFailed = False,
    fail_on: FailOn = None,
    min_measured: MinMeasured = None,
    as_json: Json = False,
) -> None:
    """Show the findings of a run: the decisive sentence first; --all shows every number."""
    rule = check_rule(fail_on, min_measured)

    async def read(client: GatewayClient) -> RunResults:
        whole = await whole_run_id(client, run_id)
        return await with_findable(
            client, await run_results(client, whole, count_failed=count_failed_judges)
        )

    results = ask(read)
    print_results(results, as_json=as_json, everything=everything)
    end_check(checked_diagnoses(results.diagnoses), rule, results.incomplete)


def stop(run_id: RunId) -> None:
    """Stop a run before its end; its answers are kept, and the same `run` resumes it."""

    async def cancel(client: GatewayClient) -> str:
        whole = await whole_run_id(client, run_id)
        await client.cancel(whole)
        return whole

    typer.echo(f"The run {ask(cancel)} is stopped; calls under way still end.")
