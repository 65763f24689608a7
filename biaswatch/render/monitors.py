"""Monitors in a terminal: state, evidence, windows of traffic."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from biaswatch.render.tables import escape, print_sentence, print_table, terminal_table
from biaswatch.shared.contracts import Described, Estimate
from biaswatch.shared.contracts.alarm import AlarmDelivery, DeliveryState
from biaswatch.shared.formatting import UNDEFINED, number, number_name
from biaswatch.shared.requests.evidence import EvidenceView, WindowView
from biaswatch.shared.requests.monitor_views import (
    AlarmView,
    MonitorStatus,
    MonitorView,
    TwinAnswer,
    labelled_promise_in_words,
    labelled_sentence_of,
)
from biaswatch.shared.requests.platform import ChannelView


def delivered_in_words(delivery: AlarmDelivery) -> str:
    """Return what became of an alarm on its way to a channel."""
    at = f"{delivery.next_at:%Y-%m-%d %H:%M:%S} UTC"
    why = f": {delivery.why}" if delivery.why else ""
    if delivery.state is not DeliveryState.WAITING:
        return f"{delivery.channel}: {delivery.state} at {at}{why}"
    if not delivery.attempts:
        return f"{delivery.channel}: waiting to be sent"
    times = "once" if delivery.attempts == 1 else f"{delivery.attempts} times"
    return f"{delivery.channel}: tried {times}, again at {at}{why}"


def channel_in_words(channel: ChannelView) -> str:
    """Return a channel in one line: its kind, what became of alarms, what is wrong."""
    status = channel.status
    if status is not None:
        kind = status.kind
    else:
        kind = "of a monitor's file" if "/" in channel.name else "declared no longer"
    counts = ", ".join(f"{n} {state}" for state, n in sorted(channel.alarms.items()))
    parts = [f"{channel.name}  {kind}  {counts or 'no alarm yet'}"]
    if status is not None and status.trouble:
        parts.append(f"It cannot be used: {status.trouble}")
    if channel.last_failure:
        parts.append(f"Last failure: {channel.last_failure}")
    return "  ".join(parts)


COLUMNS = ("comparison", "units", "missing", "gap", "evidence", "verdict", "more units")
LABELLED_COLUMNS = ("comparison", "gap by labels", "gap by readings", "verdict by labels")
WINDOW_COLUMNS = ("number", "grouping", "group", "answers", "missing", "users", "mean")
MOST_COMPARED = 10
"""So many comparisons, and groups of a window, are shown unless all are asked for."""


def print_monitor(found: MonitorView, *, everything: bool = False) -> None:
    """Print a monitor: what alarms, its state and evidence, and the last window if it has any."""
    status, console = found.stand, Console()
    _print_alarms(found, console)
    epoch = "" if status.epoch is None else f", epoch {status.epoch}"
    rounds = _amount(status.rounds, "round")
    said = f"{status.name}: {status.state}, {rounds}{epoch}, claim {status.claim}"
    stand = "stands" if status.alarms == 1 else "stand"
    print_sentence(console, f"{said}, {_amount(status.alarms, 'alarm')} {stand}.")
    if status.history_of:
        print_sentence(
            console,
            f"It reads the past of {status.history_of}. Declared after the data: who has seen them"
            " may have chosen what stands out, so no promise about false alarms holds.",
        )
    if status.ended:
        print_sentence(console, f"No more rounds: {status.ended}.")
    _print_evidence(found, console, everything=everything)
    _print_labelled(found, console)
    if found.accounts:
        print_accounts(found, console)
    if found.window:
        print_window(found.window, console, everything=everything)


def _print_alarms(found: MonitorView, console: Console) -> None:
    """Print the decisive sentence, and each alarm that stands in words."""
    standing = [each for each in found.evidence if each.standing]
    labelled = [each for each in found.labelled if each.alarmed]
    amount, verb = len(standing), "alarms" if len(standing) == 1 else "alarm"
    of = "1 comparison" if len(found.evidence) == 1 else f"{len(found.evidence)} comparisons"
    lead = f"{amount or 'None'} of {of} {verb if amount else 'alarms'}."
    print_sentence(console, lead, style="bold red" if amount else "bold")
    for each in standing:
        print_sentence(console, f"{_called(each)}: gap {_gap(each.gap)}.", bullet="• ")
    for by_labels in labelled:
        said = f"{by_labels.title}: as labels correct it, gap {_gap(by_labels.gap)}."
        print_sentence(console, said, style="bold red", bullet="• ")


def monitor_line(each: MonitorStatus) -> str:
    """Return how a monitor stands, in one line."""
    verdicts = ", ".join(
        f"{n} {name.replace('_', ' ')}" for name, n in sorted(each.verdicts.items())
    )
    watched = f"{each.suite} on {each.target}" if each.suite else each.target
    rounds, alarms = _amount(each.rounds, "round"), _amount(each.alarms, "alarm")
    known = verdicts or "no evidence yet"
    return f"{each.name}  {each.state}  {watched}  {rounds}  {known}  {alarms}"


def _amount(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def print_alarm(each: AlarmView, console: Console) -> None:
    """Print an alarm in words, who was told of it, and the answers that contributed most."""
    alarm = each.alarm
    if alarm.words:
        print_sentence(console, alarm.words, style="bold")
    about = "" if alarm.words else f": {alarm.called}"
    said = f"round {alarm.round}: {alarm.what} {alarm.state}{about}"
    print_sentence(console, f"{said}: {alarm.reason}.")
    if alarm.promise:
        print_sentence(console, f"{alarm.promise}.")
    for sent in each.deliveries:
        print_sentence(console, delivered_in_words(sent), bullet="  ")
    for twins in each.twins:
        sides = (_group(twins.a, "first group"), _group(twins.b, "all others"))
        table = Table(*map(escape, sides), title=escape(twins.set_id))
        for a, b in zip(twins.a, twins.b, strict=False):
            table.add_row(*(escape(side.answered or "(no answer)") for side in (a, b)))
        print_table(console, table)


def _group(answers: Sequence[TwinAnswer], otherwise: str) -> str:
    """Return whose answers these are, where they are of one group."""
    groups = {each.group for each in answers} - {None}
    return groups.pop() or otherwise if len(groups) == 1 else otherwise


def _called(each: EvidenceView) -> str:
    return each.title or each.comparison


def _strongest(found: MonitorView) -> list[EvidenceView]:
    """Return the evidence, alarms and what is nearest to one first."""
    return sorted(
        found.evidence, key=lambda each: (each.standing is None, -each.log_e / each.bound)
    )


def _print_evidence(found: MonitorView, console: Console, *, everything: bool) -> None:
    ordered = _strongest(found)
    shown = ordered if everything else ordered[:MOST_COMPARED]
    rows = [
        (
            _called(each),
            str(each.units),
            str(each.missing),
            _gap(each.gap),
            f"{each.log_e:.2f} of {each.bound:.2f}",
            each.verdict.replace("_", " "),
            UNDEFINED if each.more_units is None else str(each.more_units),
        )
        for each in shown
    ]
    less = len(COLUMNS) - all(row[-1] == UNDEFINED for row in rows)  # an empty last column
    print_table(console, terminal_table(COLUMNS[:less], [row[:less] for row in rows]), "")
    if left := len(ordered) - len(shown):
        print_sentence(console, f"{left} more with less evidence: --all, --json.")
    for each in shown:
        if each.adjustment and (everything or each.standing):
            print_sentence(console, f"{_called(each)}: {each.adjustment}.", style="dim")
        if each.selections:
            print_sentence(console, f"Four fifths, {_called(each)}: {each.selections}.")
    for each in shown:
        if each.standing:
            print_sentence(console, f"{_called(each)}: {each.reason}.")
    _print_smallest(shown, console)
    print_sentence(console, _promise(found.stand, labelled=bool(found.labelled)))


def _print_labelled(found: MonitorView, console: Console) -> None:
    """Print what labels of people say, beside the readings."""
    if not found.labelled:
        return
    by_readings = {each.comparison: each.gap for each in found.evidence}
    rows = [
        (
            each.title,
            _gap(each.gap),
            _gap(by_readings.get(each.comparison, Estimate())),
            each.gap.verdict.replace("_", " "),
        )
        for each in found.labelled
    ]
    print_table(console, terminal_table(LABELLED_COLUMNS, rows), "")
    for each in found.labelled:
        alarms = "alarms by labels: " if each.alarmed else ""
        said = f"{each.title}: {alarms}{labelled_sentence_of(each)}."
        print_sentence(console, said, style="bold red" if each.alarmed else "")
    print_sentence(console, f"{labelled_promise_in_words(found.stand.alpha)}.")


def _print_smallest(shown: Sequence[EvidenceView], console: Console) -> None:
    """Print how small a change would be found by now."""
    rows = [
        (
            _called(each), number(each.smallest_change.value),
            number(each.smallest_level_change.value),
            each.smallest_change.reason or each.smallest_level_change.reason or "",
        )
        for each in shown if each.change_searched
    ]  # fmt: skip
    if rows:
        head = ("the smallest change found by now", "of the gap", "of the level", "why none")
        print_table(console, terminal_table(head, rows), "")


def _promise(status: MonitorStatus, *, labelled: bool) -> str:
    """Say how probable a false alarm is, and what is left of it."""
    which = "any false alarm by readings" if labelled else "any false alarm"
    said = f"The probability that it ever raises {which} is at most {status.alpha:g}"
    if status.share_left is None:
        return f"{said}."
    return f"{said}; {100 * status.share_left:.2g} % of that are left for later epochs and alarms."


def print_accounts(found: MonitorView, console: Console) -> None:
    """Print what became of every answer that was sent in for a monitor, and what to do."""
    if (accounts := found.accounts) is None:
        return
    were = "was" if accounts.sent == 1 else "were"
    print_sentence(console, f"{_answers(accounts.sent)} {were} sent in, ever: {accounts.in_words}.")
    source = found.stand.target.partition(":")[2]
    if accounts.late and not found.stand.history_of:
        print_sentence(
            console,
            "Late ones are in no evidence: their windows had been read, or lie before the first"
            " that is watched. If they come a little late, raise `lateness` in the monitor's"
            f" file; for a log of the past: biaswatch ingest {source} FILE --history",
        )


def _answers(number: int) -> str:
    return "1 answer" if number == 1 else f"{number:,} answers"


def print_window(window: WindowView, console: Console, *, everything: bool = False) -> None:
    """Print what became of the answers of a window of traffic, and what it was like."""
    begins, ends = (
        f"{t:%Y-%m-%d %H:%M:%S} UTC" for t in (window.window.begins, window.window.ends)
    )
    span = f"The window from {begins} to {ends}"
    if window.accounts is None:
        sent = "not counted" if window.answers is None else _answers(window.answers)
        print_sentence(console, f"{span}: {sent}.")
    else:
        accounts = window.accounts
        said = f"{span}, {window.state}: {_answers(accounts.sent)}: {accounts.in_words}."
        print_sentence(console, said)
    if not window.answers:
        return
    if window.without_unit:
        print_sentence(
            console,
            f"{window.without_unit} of them name no user or conversation: they are described"
            " here, and are no evidence.",
        )
    there = {(each.extractor, each.feature) for each in window.described}
    rows = [
        (
            number_name(each.extractor, each.feature, there), _by(each), group.group,
            str(group.responses), str(group.missing), str(group.units), _gap(group.mean),
        )
        for each in window.described
        for group in each.groups
    ]  # fmt: skip
    shown = rows if everything else rows[:MOST_COMPARED]
    print_table(console, terminal_table(WINDOW_COLUMNS, shown), "")
    if left := len(rows) - len(shown):
        print_sentence(console, f"{left} more groups: --all, --json.")
    for each in window.described:
        if each.users and (each.users.alone or each.users.without_stratum):
            name = f"{number_name(each.extractor, each.feature, there)} by {_by(each)}"
            print_sentence(console, f"{name}: {each.users.in_words}.")


def _by(each: Described) -> str:
    return each.dimension.replace("_", " ")


def _gap(estimate: Estimate) -> str:
    """Return a number with its interval, all with their signs."""
    ends = (estimate.value, estimate.low, estimate.high)
    value, low, high = (number(each, signed=True) for each in ends)
    return f"{value} [{low}, {high}]" if estimate.low is not None else value
