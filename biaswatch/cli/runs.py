"""The verbs `runs`, `show`, `describe`, `stop`, `status` and `targets`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from biaswatch.checks import checked_diagnoses
from biaswatch.cli.options import (
    FOUND_CODE,
    CountFailed,
    Everything,
    FailOn,
    Json,
    MinMeasured,
    RunId,
    ask,
    check_rule,
    end_check,
    show_rows,
)
from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.local.runs import RunResults, run_results, whole_run_id
from biaswatch.planning.findable_gaps import with_findable
from biaswatch.render.run_results import print_results
from biaswatch.render.terminal import print_json, print_sentence, printable
from biaswatch.shared.contracts import Purpose, as_usage_error
from biaswatch.shared.contracts.completion import PausedTarget
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.forests import checked_against
from biaswatch.shared.presentation.overview import counts_note
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.requests.platform import AlarmLine, DaySpending, PlatformStatus
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


WAITING_CODE = 3
"""Nothing alarms, but something needs attention."""
app = typer.Typer(
    name="targets", help="Targets that refuse every call: list, resume.", no_args_is_help=True
)


def status(as_json: Json = False) -> None:
    """Show alarms, changes since yesterday, and what needs attention.

    Exit code 1 if an alarm is active, 3 if something else needs attention, otherwise 0.
    """
    report = ask(lambda client: client.read(PlatformStatus, "/v1/status"))
    if as_json:
        print_json(report)
    else:
        console = Console(emoji=False)
        for line in lines_of(report):
            text = line.lstrip()
            print_sentence(console, text, bullet=" " * (len(line) - len(text)))
    if code := code_of(report):
        raise typer.Exit(code)


def code_of(report: PlatformStatus) -> int:
    """Return the exit code: alarms first, then anything else that needs attention."""
    if report.alarms:
        return FOUND_CODE
    return WAITING_CODE if report.waits else 0


def lines_of(report: PlatformStatus) -> Iterator[str]:
    """Lines of a status report, the most urgent first."""
    yield f"Alarms: {len(report.alarms) or 'none'}"
    yield from map(_alarm_line, report.alarms)
    waiting = [f"{trouble.what}: {trouble.said}" for trouble in report.troubles]
    waiting += [
        f"monitor overdue: {monitor.name} should have begun a round at"
        f" {monitor.due_at:%Y-%m-%d %H:%M} UTC."
        for monitor in report.overdue
    ]
    yield f"Needs attention: {len(waiting) or 'nothing'}"
    yield from (f"  {line}" for line in waiting)
    changed = len(report.changes) or "nothing"
    new = [change for change in report.changes if change not in report.alarms]
    listed = len(report.changes) - len(new)
    above = f", {listed} of them above" if listed else ""
    yield f"Raised or cleared since {report.at:%H:%M} UTC yesterday: {changed}{above}"
    yield from map(_alarm_line, new)
    yield f"Runs that ended since then: {len(report.ended) or 'none'}"
    yield from map(_run_line, report.ended)
    yield f"Runs under way: {len(report.under_way) or 'none'}. Active monitors: {report.monitors}."
    yield from map(_run_line, report.under_way)
    if report.unwatched:
        sources = ", ".join(f"{name} ({n:,})" for name, n in sorted(report.unwatched.items()))
        yield f"Answers of systems without a monitor, which are not kept: {sources}."
    yield _spending_line(report.spending)


def _alarm_line(alarm: AlarmLine) -> str:
    moment = f"{alarm.at:%Y-%m-%d %H:%M}"
    handled = f" ({alarm.handled})" if alarm.handled else ""
    return f"  {moment}  {alarm.monitor}, {alarm.what} {alarm.state}{handled}: {alarm.words}"


def _run_line(run: RunProgress) -> str:
    targets = ", ".join(run.targets)
    return f"  {run.run_id}  {run.state}  {run.suite}  {targets}  {run.responses}/{run.probes}"


def _spending_line(day: DaySpending) -> str:
    """Return the cost of the last day, with judges and rounds of monitors."""
    cost = "at no known price" if day.cost is None else f"{day.cost:,.2f} by the price table"
    unpriced = f" ({day.unpriced_calls:,} calls have no price there)" if day.unpriced_calls else ""
    spent = f"{day.tokens:,} tokens, {cost}{unpriced}"
    return f"Spent by the {day.runs:,} runs and rounds that began since then: {spent}."


@app.command("list")
def list_paused(as_json: Json = False) -> None:
    """List the paused targets: why, and when they are tried again."""
    paused = ask(lambda client: client.paused_targets())
    show_rows(paused, PausedTarget.in_words, "No target is paused.", as_json=as_json)


@app.command("resume")
def resume(name: Annotated[str, typer.Argument(help="The target, as `list` shows it.")]) -> None:
    """Try a paused target again at once, for instance with a corrected key."""
    ask(lambda client: client.resume_target(name))
    typer.echo(f"{printable(name)} is tried again; it is paused anew if it still refuses.")
