"""Monitors in a terminal: state, evidence, windows of traffic."""

from rich.console import Console
from rich.table import Column, Table

from biaswatch.render.tables import escape
from services.gateway.monitors.views import MonitorView
from shared.contracts import Description, Estimate
from shared.formatting import UNDEFINED, number

COLUMNS = ("units", "missing", "gap", "interval", "evidence", "verdict", "more")
WINDOW_COLUMNS = (
    "number", "dimension", "group", "answers", "missing", "users", "mean", "interval",
)  # fmt: skip


def print_monitor(found: MonitorView) -> None:
    """Print a monitor: its state, its evidence, and the last window where it has any."""
    status, console = found.stand, Console()
    epoch = "" if status.epoch is None else f", epoch {status.epoch}"
    console.print(
        escape(f"{status.name}: {status.state}, {status.rounds} rounds{epoch},"),
        escape(f"claim {status.claim}, {status.alarms} alarms stand"),
    )
    if status.ended:
        console.print(escape(f"No more rounds: {status.ended}."))
    table = Table(Column("comparison", overflow="fold", ratio=1), *COLUMNS)
    for each in found.evidence:
        table.add_row(
            escape(each.comparison),
            str(each.units),
            str(each.missing),
            *_signed(each.gap),
            f"{each.log_supremum:.2f} of {each.bound:.2f}",
            each.verdict.replace("_", " "),
            UNDEFINED if each.more_units is None else f"{each.more_units} units",
        )
    console.print(table)
    if found.window:
        print_window(found.window, console)


def print_window(window: Description, console: Console) -> None:
    """Print what a window of traffic looked like."""
    begins, ends = (
        f"{t:%Y-%m-%d %H:%M:%S} UTC" for t in (window.window.begins, window.window.ends)
    )
    console.print(escape(f"The window from {begins} to {ends}: {window.answers} answers."))
    if not window.answers:
        return
    if window.without_unit:
        console.print(
            f"{window.without_unit} of them name no user or conversation: they are described"
            " here, and are no evidence."
        )
    table = Table(*(Column(name, overflow="fold") for name in WINDOW_COLUMNS))
    for each in window.described:
        for group in each.groups:
            table.add_row(
                escape(f"{each.extractor}.{each.feature}"),
                escape(each.dimension),
                escape(group.group),
                str(group.responses),
                str(group.missing),
                str(group.units),
                *_signed(group.mean),
            )
    console.print(table)


def _signed(estimate: Estimate) -> tuple[str, str]:
    """Return the cells of a number and its interval, both with their signs."""
    ends = (estimate.value, estimate.low, estimate.high)
    value, low, high = (number(each, signed=True) for each in ends)
    return value, f"{low} .. {high}"
