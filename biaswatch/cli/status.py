"""The verbs `status` and `targets`."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console

from biaswatch.cli.options import FOUND_CODE, Json, ask, gateway, show_rows
from biaswatch.local.connections import running_platform
from biaswatch.render.terminal import print_json, print_sentence, printable
from biaswatch.shared.contracts.waiting_calls import PausedTarget
from biaswatch.shared.requests.platform import (
    AlarmLine,
    DaySpending,
    PlatformStatus,
    PlatformTrouble,
)
from biaswatch.shared.requests.run_views import RunProgress
from biaswatch.shared.runtime.settings import Settings, load_settings

WAITING_CODE = 3
"""No alarm is active, but something needs attention."""
NOT_RUNNING = "No platform runs on this machine: {} not being read. Start it with `biaswatch up`."
NO_STATE = (
    "No platform runs on this machine, and the state directory {} does not exist: nothing is"
    " watched. Name your platform's directory with BIASWATCH_STATE_DIR, or its gateway with"
    " --server."
)
app = typer.Typer(
    name="targets", help="Targets that refuse every call: list, resume.", no_args_is_help=True
)


def status(as_json: Json = False) -> None:
    """Show alarms, changes since yesterday, and what needs attention.

    Exit code 1 if an alarm is active, 3 if something else needs attention, otherwise 0.
    """
    here = None if gateway().server else running_platform()
    is_running = here is not None or gateway().server is not None
    if not is_running:
        _check_has_state(load_settings(Settings))
    report = ask(lambda client: client.read(PlatformStatus, "/v1/status"))
    if not is_running and report.monitors:
        trouble = PlatformTrouble(
            what="platform", said=NOT_RUNNING.format(_unread(report.monitors))
        )
        report = report.model_copy(update={"troubles": [trouble, *report.troubles]})
    if as_json:
        print_json(report)
    else:
        console = Console(emoji=False)
        for line in status_lines(report):
            text = line.lstrip()
            print_sentence(console, text, bullet=" " * (len(line) - len(text)))
        if here:
            typer.echo(f"Dashboard: {here.url}\nMetrics: {here.metrics}")
    if code := exit_code_of(report):
        raise typer.Exit(code)


def _check_has_state(settings: Settings) -> None:
    """Exit where this machine has neither a running platform nor the state of one."""
    if settings.store_url or settings.state_dir.exists():
        return
    typer.echo(NO_STATE.format(settings.state_dir), err=True)
    raise typer.Exit(WAITING_CODE)


def _unread(monitors: int) -> str:
    return "1 active monitor is" if monitors == 1 else f"{monitors} active monitors are"


def exit_code_of(report: PlatformStatus) -> int:
    """Return the exit code: alarms first, then anything else that needs attention."""
    if report.alarms:
        return FOUND_CODE
    return WAITING_CODE if report.waits else 0


def status_lines(report: PlatformStatus) -> Iterator[str]:
    """Lines of a status report, the most urgent first."""
    yield f"Alarms: {len(report.alarms) or 'none'}"
    yield from map(_alarm_line, report.alarms)
    for name in dict.fromkeys(alarm.monitor for alarm in report.alarms):
        yield f"  Its answers: biaswatch monitor show {name} --alarms"
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
