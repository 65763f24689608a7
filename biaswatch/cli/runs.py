"""The verbs `runs`, `show`, `describe` and `stop`."""

from dataclasses import replace
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
from biaswatch.local.gateway_requests import path
from biaswatch.local.runs import RunResults, run_results, whole_run_id
from biaswatch.planning.findable_gaps import with_findable
from biaswatch.render.run_results import print_results
from biaswatch.render.terminal import print_json, print_sentence, printable
from biaswatch.shared.contracts import Purpose, as_usage_error
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.forests import checked_against
from biaswatch.shared.presentation.overview import counts_note
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.requests.run_views import RunProgress
from biaswatch.shared.requests.runs import RunDescription


def runs(
    last: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 100,
    purpose: Annotated[
        Purpose, typer.Option(help="Also rounds of monitors and windows of traffic.")
    ] = Purpose.STUDY,
    about: Annotated[str, typer.Option(help="Words in a name, a tag or a note.")] = "",
    as_json: Json = False,
) -> None:
    """List the runs, the latest first."""
    listed = ask(lambda client: client.runs(last, purpose=purpose, about=about, found="true"))
    if as_json:
        print_json(listed)
        return
    if not listed:
        typer.echo(f"No run is described by {about}." if about else "There are no runs yet.")
        return
    typer.echo(f"{'run':<32}  {'state':<10}  {'responses':<13}  found")
    console = Console(emoji=False)
    for run in listed:
        answered = f"{run.responses}/{run.probes}"
        begin = f"{run.run_id}  {run.state:<10}  {answered:<13}  "
        print_sentence(console, _outcome(run), bullet=begin)
        lines = [f"{run.suite}, {run.at:%Y-%m-%d %H:%M} UTC: {', '.join(run.targets)}"]
        if called := ", ".join(run.described.details.values()):
            lines.append(called)
        batches = (batch.in_words() for batch in run.batches)
        for sentence in (*lines, *(paused.in_words() for paused in run.paused), *batches):
            print_sentence(console, sentence, bullet="    ")


def _outcome(run: RunProgress) -> str:
    """Return a run's verdict with its counts, or the reason for a missing one."""
    if not run.found:
        return "no groups compared" if run.ended else "not yet"
    return f"{words(run.found.word)}: {counts_note(run.found)}"


def show(
    run_id: RunId,
    everything: Everything = False,
    count_failed_judges: CountFailed = False,
    reference: Annotated[str, typer.Option(help="The group that comparisons subtract.")] = "",
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
    results = replace(results, diagnoses=checked_against(results.diagnoses, reference))
    print_results(results, as_json=as_json, everything=everything)
    end_check(checked_diagnoses(results.diagnoses), rule, results.incomplete)


def stop(run_id: RunId) -> None:
    """Stop a run before its end; its answers are kept, and the same `run` resumes it."""

    async def cancel(client: GatewayClient) -> str:
        run = await client.progress(await whole_run_id(client, run_id))
        if run.ended:
            return f"The run {run.run_id} had already ended: it is {run.state}."
        await client.cancel(run.run_id)
        return f"The run {run.run_id} is stopped; calls under way still end."

    typer.echo(ask(cancel))


def describe(
    run_id: RunId,
    name: Annotated[str | None, typer.Option(help="A name, accepted wherever the id is.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A word to find it by; repeatable.")] = None,
    note: Annotated[str | None, typer.Option(help="A note.")] = None,
) -> None:
    """Name a run, with tags and a note.

    What is left out stays, and "" removes it.
    """
    changed = {"name": name, "tags": [t for t in tag if t] if tag else None, "note": note}
    changes = {field: value for field, value in changed.items() if value is not None}
    if not changes:
        raise UsageError("Name what to change: --name, --tag or --note.")

    async def send(client: GatewayClient) -> RunProgress:
        run = await client.progress(run_id)
        with as_usage_error("The description"):
            described = RunDescription.model_validate(run.described.model_dump() | changes)
        return await client.send(RunProgress, path("runs", run.run_id, "description"), described)

    run = ask(send)
    called = ", ".join(run.described.details.values()) or "without a name"
    typer.echo(f"{run.run_id}: {printable(called)}")
