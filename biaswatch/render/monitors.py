"""Monitors on a terminal: state, evidence, windows of traffic, channels of alarms."""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.table import Table as RichTable

from biaswatch.render.terminal import (
    escape,
    print_bullets,
    print_sentence,
    print_table,
    rich_table,
    terminal_table,
)
from biaswatch.shared.contracts import Estimate
from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery, DeliveryState
from biaswatch.shared.formatting import counted, number, number_name
from biaswatch.shared.presentation.monitor_tables import (
    evidence_table,
    labelled_table,
    monitor_lead,
    window_table,
)
from biaswatch.shared.presentation.questions import question_remarks
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.requests.evidence import EvidenceView, WindowView
from biaswatch.shared.requests.monitor_views import (
    AlarmView,
    MonitorStatus,
    MonitorView,
    TwinAnswer,
    anywhere_in_words,
    labelled_promise_in_words,
    labelled_sentence_of,
)
from biaswatch.shared.requests.platform import ChannelView

MAX_ROWS = 10
"""Comparisons, and groups of a window, unless all are requested."""
LATE_ANSWERS = (
    "Late answers are in no evidence: their windows had been read, or lie before the first window."
    " If they come a little late, raise `lateness` in the monitor's file; for a log of the past:"
    " biaswatch ingest {source} FILE --history"
)


def delivered_in_words(delivery: AlarmDelivery) -> str:
    """Return the state of an alarm's delivery to a channel."""
    at = f"{delivery.next_at:%Y-%m-%d %H:%M:%S} UTC"
    why = f": {delivery.why}" if delivery.why else ""
    if delivery.state is not DeliveryState.WAITING:
        return f"{delivery.channel}: {delivery.state} at {at}{why}"
    if not delivery.attempts:
        return f"{delivery.channel}: waiting to be sent"
    times = "once" if delivery.attempts == 1 else f"{delivery.attempts} times"
    return f"{delivery.channel}: tried {times}, again at {at}{why}"


def channel_in_words(channel: ChannelView) -> str:
    """Return a channel in one line: kind, alarms, faults."""
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


def monitor_line(monitor: MonitorStatus) -> str:
    """Return the state of a monitor in one line, without its name."""
    watched = f"{monitor.suite} on {monitor.target}" if monitor.suite else monitor.target
    rounds, alarms = counted(monitor.rounds, "round"), counted(monitor.alarms, "alarm")
    return f"{words(monitor.word)}  {monitor.state}  {watched}  {rounds}  {alarms}"


def print_monitor(view: MonitorView, *, everything: bool = False) -> None:
    """Print a monitor: alarms, state, evidence, and the last window if it has any."""
    status, console = view.status, Console()
    _print_alarms(view, console)
    epoch = "" if status.epoch is None else f", epoch {status.epoch}"
    state = f"{status.name}: {status.state}, {counted(status.rounds, 'round')}{epoch}"
    alarms = f"{counted(status.alarms, 'alarm')} raised now"
    print_sentence(console, f"{state}, claim {status.claim}, {alarms}.")
    if status.history_of:
        print_sentence(
            console,
            f"It reads the past of {status.history_of}. It was declared after the data: people who"
            " know them may have chosen what stands out, so no promise about false alarms holds.",
        )
    if status.ended:
        print_sentence(console, f"No more rounds: {status.ended}.")
    if status.merged is not None:
        titles = {row.comparison: _title(row) for row in view.evidence}
        print_sentence(console, anywhere_in_words(status.merged, titles))
    _print_evidence(view, console, everything=everything)
    _print_labelled(view, console)
    if view.accounts:
        print_accounts(view, console)
    if view.window:
        print_window(view.window, console, everything=everything)


def _print_alarms(view: MonitorView, console: Console) -> None:
    """Print the lead and the standing alarms, by readings and by labels."""
    alarms = [row for row in view.evidence if row.standing]
    count = len(alarms)
    print_sentence(console, monitor_lead(view), style="bold red" if count else "bold")
    print_bullets(console, (f"{_title(row)}: gap {_signed(row.gap)}." for row in alarms))
    labelled = (
        f"{row.title}: as labels correct it, gap {_signed(row.gap)}."
        for row in view.labelled
        if row.alarmed
    )
    print_bullets(console, labelled, style="bold red")


def print_alarm(view: AlarmView, console: Console) -> None:
    """Print an alarm with its deliveries, and the answers with the largest part."""
    alarm = view.alarm
    if alarm.words:
        print_sentence(console, alarm.words, style="bold")
    about = "" if alarm.words else f": {alarm.called}"
    print_sentence(
        console, f"round {alarm.round}: {alarm.what} {alarm.state}{about}: {alarm.reason}."
    )
    if alarm.promise:
        print_sentence(console, f"{alarm.promise}.")
    for delivery in view.deliveries:
        print_sentence(console, delivered_in_words(delivery), bullet="  ")
    for twins in view.twins:
        titles = (_group(twins.a, "first group"), _group(twins.b, "all others"))
        table = RichTable(*map(escape, titles), title=escape(twins.set_id))
        for pair in zip(twins.a, twins.b, strict=False):
            table.add_row(*map(_answer, pair))
        print_table(console, table)


def _answer(answer: TwinAnswer) -> str:
    """Return an answer below its id, its user or prompt, and the question."""
    source = f"{answer.response_id}, {answer.unit}" if answer.unit else answer.response_id
    question = [f"> {answer.asked}"] if answer.asked else []
    return escape("\n".join([source, *question, answer.answered or "(no answer)"]))


def _group(answers: Sequence[TwinAnswer], otherwise: str) -> str:
    """Return the group of the answers, if they share one."""
    groups = {answer.group for answer in answers} - {None}
    return groups.pop() or otherwise if len(groups) == 1 else otherwise


def _title(evidence: EvidenceView) -> str:
    return evidence.title or evidence.comparison


def _print_evidence(view: MonitorView, console: Console, *, everything: bool) -> None:
    """Print the table of evidence with its remarks."""
    by_urgency = sorted(
        view.evidence, key=lambda row: (row.standing is None, -row.log_e / row.bound)
    )
    shown = by_urgency if everything else by_urgency[:MAX_ROWS]
    titles = {row.comparison: _title(row) for row in shown}
    print_table(console, rich_table(evidence_table(view.status.name, shown, titles)))
    for remark in question_remarks(shown, reasons=bool(view.status.suite)):
        print_sentence(console, remark, style="dim")
    console.print()
    if left := len(by_urgency) - len(shown):
        print_sentence(console, f"{left} more with less evidence: --all, --json.")
    for row in shown:
        if row.adjustment and (everything or row.standing):
            print_sentence(console, f"{_title(row)}: {row.adjustment}.", style="dim")
        if row.selections:
            print_sentence(console, f"Four fifths, {_title(row)}: {row.selections}.")
    for row in shown:
        if row.standing:
            print_sentence(console, f"{_title(row)}: {row.reason}.")
    _print_smallest_changes(shown, console)
    print_sentence(console, _false_alarm_bound(view.status, labelled=bool(view.labelled)))


def _print_smallest_changes(shown: Sequence[EvidenceView], console: Console) -> None:
    """Print the smallest changes findable by now."""
    rows = [
        (
            _title(row),
            number(row.smallest_change.value),
            number(row.smallest_level_change.value),
            row.smallest_change.reason or row.smallest_level_change.reason or "",
        )
        for row in shown
        if row.change_searched
    ]
    if rows:
        titles = ("the smallest change found by now", "of the gap", "of the level", "why none")
        print_table(console, terminal_table(titles, rows), "")


def _print_labelled(view: MonitorView, console: Console) -> None:
    """Print the gaps by labels of people and by readings."""
    if not view.labelled:
        return
    print_table(console, rich_table(labelled_table(view.labelled, view.evidence)), "")
    for row in view.labelled:
        alarms = "alarms by labels: " if row.alarmed else ""
        sentence = f"{row.title}: {alarms}{labelled_sentence_of(row)}."
        print_sentence(console, sentence, style="bold red" if row.alarmed else "")
    print_sentence(console, f"{labelled_promise_in_words(view.status.alpha)}.")


def _false_alarm_bound(status: MonitorStatus, *, labelled: bool) -> str:
    """Return the bound on false alarms, and the share reserved for later ones."""
    if status.history_of:
        return ""
    which = "any false alarm by readings" if labelled else "any false alarm"
    bound = f"The probability that it ever raises {which} is at most {status.alpha:g}"
    if status.share_left is None:
        return f"{bound}."
    later = 100 * status.share_left
    return f"{bound}; {later:.2g} % of it is reserved for later epochs and alarms."


def print_accounts(view: MonitorView, console: Console) -> None:
    """Print the fate of every answer sent in for a monitor."""
    if (accounts := view.accounts) is None:
        return
    verb = "was" if accounts.sent == 1 else "were"
    print_sentence(
        console, f"{counted(accounts.sent, 'answer')} {verb} sent in, ever: {accounts.in_words}."
    )
    if accounts.late and not view.status.history_of:
        source = view.status.target.partition(":")[2]
        print_sentence(console, LATE_ANSWERS.format(source=source))


def print_window(window: WindowView, console: Console, *, everything: bool = False) -> None:
    """Print a window of traffic: fate of its answers, numbers by group."""
    begins, ends = (
        f"{at:%Y-%m-%d %H:%M:%S} UTC" for at in (window.window.begins, window.window.ends)
    )
    span = f"The window from {begins} to {ends}"
    if accounts := window.accounts:
        counts = f"{counted(accounts.sent, 'answer')}: {accounts.in_words}"
        print_sentence(console, f"{span}, {window.state}: {counts}.")
    else:
        sent = "not counted" if window.answers is None else counted(window.answers, "answer")
        print_sentence(console, f"{span}: {sent}.")
    if not window.answers:
        return
    if window.without_unit:
        print_sentence(
            console,
            f"{window.without_unit} of them name no user or conversation: they are described"
            " here, and are not evidence.",
        )
    if window.dependence_words:
        print_sentence(console, window.dependence_words)
    table = window_table(window)
    shown = table.rows if everything else table.rows[:MAX_ROWS]
    print_table(console, rich_table(replace(table, rows=shown)), "")
    if left := len(table.rows) - len(shown):
        print_sentence(console, f"{left} more groups: --all, --json.")
    features = {(row.extractor, row.feature) for row in window.described}
    for row in window.described:
        if row.users and (row.users.alone or row.users.without_stratum):
            feature = number_name(row.extractor, row.feature, features)
            print_sentence(console, f"{feature} by {words(row.dimension)}: {row.users.in_words}.")


def _signed(estimate: Estimate) -> str:
    """Return a number with its interval, all with their signs."""
    ends = (estimate.value, estimate.low, estimate.high)
    value, low, high = (number(end, signed=True) for end in ends)
    return f"{value} [{low}, {high}]" if estimate.low is not None else value
