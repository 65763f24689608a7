"""Monitors in a terminal: state, evidence, windows of traffic."""

from rich.console import Console
from rich.table import Column, Table

from biaswatch.render.tables import escape
from services.gateway.monitors.views import MonitorStatus, MonitorView
from services.gateway.monitors.window_views import WindowView
from shared.contracts import Estimate
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
    if status.history_of:
        console.print(
            escape(f"It reads the past of {status.history_of}. Declared after the data: who has"),
            "seen them may have chosen what stands out, so no promise about false alarms holds.",
        )
    if status.ended:
        console.print(escape(f"No more rounds: {status.ended}."))
    _print_evidence(found, console)
    if found.accounts:
        print_accounts(found, console)
    if found.window:
        print_window(found.window, console)


def _print_evidence(found: MonitorView, console: Console) -> None:
    table = Table(Column("comparison", overflow="fold", ratio=1), *COLUMNS)
    for each in found.evidence:
        table.add_row(
            escape(each.comparison),
            str(each.units),
            str(each.missing),
            *_signed(each.gap),
            f"{each.log_e:.2f} of {each.bound:.2f}",
            each.verdict.replace("_", " "),
            UNDEFINED if each.more_units is None else f"{each.more_units} units",
        )
    console.print(table)
    for each in found.evidence:
        if each.adjustment:
            console.print(escape(f"{each.comparison}: {each.adjustment}."))
        if each.selections:
            console.print(escape(f"Four fifths, {each.comparison}: {each.selections}."))
    _print_standing(found, console)
    _print_smallest(found, console)
    console.print(escape(_promise(found.stand)))


def _print_standing(found: MonitorView, console: Console) -> None:
    """Print what clears the alarms that stand."""
    for each in found.evidence:
        if each.standing:
            console.print(escape(f"{each.comparison}: {each.reason}."))


def _print_smallest(found: MonitorView, console: Console) -> None:
    """Print how small a change would be found by now."""
    known = [each for each in found.evidence if each.change_searched]
    if not known:
        return
    table = Table(
        Column("the smallest change found by now", overflow="fold", ratio=1),
        *("of the gap", "of the level", "why none"),
    )
    for each in known:
        gap, level = each.smallest_change, each.smallest_level_change
        why = gap.reason or level.reason or ""
        cells = (number(gap.value), number(level.value), why)
        table.add_row(*map(escape, (each.comparison, *cells)))
    console.print(table)


def _promise(status: MonitorStatus) -> str:
    """Say how probable a false alarm is, and what is left of it."""
    said = f"The probability that it ever raises any false alarm is at most {status.alpha:g}"
    if status.share_left is None:
        return f"{said}."
    return f"{said}; {100 * status.share_left:.2g} % of that are left for later epochs and alarms."


def print_accounts(found: MonitorView, console: Console) -> None:
    """Print what became of every answer that was sent in for a monitor, and what to do."""
    if (accounts := found.accounts) is None:
        return
    console.print(escape(f"{accounts.sent:,} answers were sent in, ever: {accounts.in_words}."))
    source = found.stand.target.partition(":")[2]
    if accounts.late and not found.stand.history_of:
        console.print(
            "Late ones are in no evidence: their windows had been read, or lie before the first"
            " that is watched. If they come a little late, raise `lateness` in the monitor's"
            f" file; for a log of the past: biaswatch ingest {escape(source)} FILE --history"
        )


def print_window(window: WindowView, console: Console) -> None:
    """Print what became of the answers of a window of traffic, and what it was like."""
    begins, ends = (
        f"{t:%Y-%m-%d %H:%M:%S} UTC" for t in (window.window.begins, window.window.ends)
    )
    span = f"The window from {begins} to {ends}"
    if window.accounts is None:
        console.print(escape(f"{span}: {window.answers} answers."))
    else:
        accounts = window.accounts
        console.print(
            escape(f"{span}, {window.state}: {accounts.sent:,} answers: {accounts.in_words}.")
        )
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
    for each in window.described:
        if each.users and (each.users.alone or each.users.without_stratum):
            name = f"{each.extractor}.{each.feature} by {each.dimension}"
            console.print(escape(f"{name}: {each.users.in_words}."))


def _signed(estimate: Estimate) -> tuple[str, str]:
    """Return the cells of a number and its interval, both with their signs."""
    ends = (estimate.value, estimate.low, estimate.high)
    value, low, high = (number(each, signed=True) for each in ends)
    return value, f"{low} .. {high}"
