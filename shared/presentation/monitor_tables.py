"""Tables of a monitor: comparisons, windows of traffic, history, strata."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import quote

from biaswatch.shared.analysis.monitors.strata_views import StrataView, StratumView
from biaswatch.shared.contracts import ACCOUNTS, AnswerAccounts, Estimate, SummaryWord, Verdict
from biaswatch.shared.contracts.answer_accounts import account_label
from biaswatch.shared.contracts.comparison import MISSING
from biaswatch.shared.formatting import counted, number_name, undetected_words
from biaswatch.shared.presentation.questions import QUESTIONS, answered_questions, evidence_note
from biaswatch.shared.presentation.tables import (
    Table,
    TableCell,
    estimate_cell,
    estimates,
    names,
    number_cell,
    numbers,
    text_cell,
    texts,
    verdict_cell,
    words,
)
from biaswatch.shared.requests.evidence import EvidenceView, WindowState, WindowView
from biaswatch.shared.requests.monitor_views import History, LabelledEvidence, MonitorView

RANGES = {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}
"""Lengths of time that a chart can show; by default it shows all."""
SMALL_STRATA = "all smaller strata"
SIDES = (
    *("first group", "second group", "first, compared", "second, compared"),
    *("mean of the first", "mean of the second"),
)


def monitor_lead(view: MonitorView) -> str:
    """Return the state of a monitor in a sentence, its one word first."""
    status, total = view.status, counted(len(view.evidence), "comparison")
    if about_missing := sum(map(is_missing_without_finding, view.evidence)):
        total += f" ({about_missing} of them about shares of missing answers)"
    if not view.evidence:
        return "Inconclusive: no round has closed yet."
    if status.alarms:
        plural = "" if status.alarms == 1 else "s"
        return f"Disparity: {status.alarms} alarm{plural} raised, of {total}."
    if status.word is SummaryWord.DISPARITY:
        shown = status.verdicts[Verdict.DISPARITY]
        return f"Disparity in {shown} of {total}; no alarm is raised."
    if status.word is SummaryWord.NO_DISPARITY:
        return f"No disparity beyond the tolerance in any of {total}; no alarm is raised."
    size = undetected_words(status.undetected)
    return "; ".join(filter(None, (f"Inconclusive: no alarm in {total} so far", size))) + "."


def is_missing_without_finding(row: EvidenceView) -> bool:
    """Return whether a comparison of missing answers has no alarm and no disparity."""
    is_missing = row.number.rpartition(".")[2] == MISSING
    return is_missing and row.standing is None and row.verdict is not Verdict.DISPARITY


def unanswered_sentence(evidence: Sequence[EvidenceView]) -> str:
    """Return what the comparisons about missing answers say together, "" without any."""
    rows = [row for row in evidence if is_missing_without_finding(row)]
    if not rows:
        return ""
    verdicts = Counter(words(row.verdict) for row in rows)
    listed = ", ".join(f"{verdict} in {count}" for verdict, count in verdicts.items())
    return (
        f"Not drawn: {counted(len(rows), 'comparison')} of the shares of missing answers, without"
        f" an alarm ({listed}). The CSV file of the comparisons has a row for each."
    )


def alarm_end_sentence(evidence: EvidenceView, title: str, *, ended: bool) -> str:
    """Return the condition for the end of an alarm, and how near it is."""
    after = " The monitor has ended, so the alarm stays raised." if ended else ""
    return f"{title}: {evidence.reason}.{after}"


def evidence_table(
    monitor: str, evidence: Sequence[EvidenceView], titles: Mapping[str, str]
) -> Table:
    """Return a row for each comparison: verdict, gap, evidence, detectable change."""
    is_searched = any(row.change_searched for row in evidence)
    questions = answered_questions(evidence)
    columns = (
        *names("comparison"),
        *texts("verdict", "about", *(question.heading for question in questions)),
        *estimates("gap"),
        *numbers("evidence", "needed for an alarm", "units", "missing", "units still needed"),
        *numbers(*(("smallest change it can see",) if is_searched else ())),
    )
    address = f"/monitors/{quote(monitor)}"
    rows = [
        (
            text_cell(
                titles.get(row.comparison, row.comparison),
                href=f"{address}?comparison={quote(row.comparison)}#over-time",
                note="stands out now" if row.stands_out else None,
            ),
            verdict_cell(row.verdict),
            text_cell(row.about),
            *(question.cell(row, evidence_note(question, row)) for question in questions),
            estimate_cell(row.gap),
            *map(number_cell, (row.log_e, row.bound, row.units, row.missing, row.more_units)),
            *([_smallest_change(row.smallest_change)] if is_searched else ()),
        )
        for row in evidence
    ]
    return Table("Comparisons of the monitor", columns, tuple(rows))


def _smallest_change(change: Estimate) -> TableCell:
    note = change.reason if change.value is None else None
    return replace(number_cell(change.value), note=note)


def labelled_table(labelled: Sequence[LabelledEvidence], evidence: Sequence[EvidenceView]) -> Table:
    """Return a row for each labelled comparison: by labels, and by readings beside."""
    by_readings = {row.comparison: row.gap for row in evidence}
    columns = (
        *names("comparison"),
        *texts("verdict by labels"),
        *estimates("gap by labels", "gap by readings"),
        *numbers("evidence by labels", "needed for an alarm", "pairs", "rounds"),
    )
    rows = [
        (
            text_cell(
                row.title,
                href=f"/runs/{row.run_id}",
                note=None if row.gap.no_alarm is None else f"no alarm: {row.gap.no_alarm}",
            ),
            verdict_cell(row.gap.verdict),
            estimate_cell(row.gap),
            estimate_cell(by_readings.get(row.comparison, Estimate())),
            *map(number_cell, (row.gap.log_e, row.gap.bound, row.gap.pairs, row.gap.rounds)),
        )
        for row in labelled
    ]
    return Table("Comparisons as labels correct them", columns, tuple(rows))


def accounts_table(accounts: AnswerAccounts, windows: Sequence[WindowView]) -> Table:
    """Return the fate of the answers sent in: in all, and by window."""
    labels = map(account_label, ("sent", *ACCOUNTS))
    columns = (*texts("window, from", "state"), *numbers(*labels))
    total = (text_cell("all"), text_cell(""), number_cell(accounts.sent), *_counts(accounts))
    rows = (total, *map(_window_accounts, windows))
    return Table("Answers that were sent in", columns, rows)


def _window_accounts(row: WindowView) -> tuple[TableCell, ...]:
    """Return the cells of a window: the fate of its answers."""
    has_run = row.state in (WindowState.MEASURED, WindowState.READ)
    href = f"/runs/{row.run_id}/answers" if has_run else None
    begin = text_cell(f"{row.window.begins:%Y-%m-%d %H:%M}", href=href)
    return begin, text_cell(row.state), number_cell(row.sent), *_counts(row.accounts)


def _counts(accounts: AnswerAccounts | None) -> list[TableCell]:
    """Return the number of answers with each fate."""
    return [number_cell(getattr(accounts, name) if accounts else None) for name in ACCOUNTS]


def window_table(window: WindowView) -> Table:
    """Return the numbers of one window by group."""
    features = {(row.extractor, row.feature) for row in window.described}
    columns = (
        *names("number", "grouping", "group"),
        *numbers("answers", "missing", "users"),
        *estimates("mean"),
    )
    rows = [
        (
            text_cell(number_name(row.extractor, row.feature, features)),
            text_cell(words(row.dimension)),
            text_cell(group.group),
            *map(number_cell, (group.responses, group.missing, group.units)),
            estimate_cell(group.mean),
        )
        for row in window.described
        for group in row.groups
    ]
    return Table("The last window by group", columns, tuple(rows))


def history_table(histories: Sequence[History], titles: Mapping[str, str]) -> Table:
    """Return every round of every comparison."""
    columns = (
        *names("comparison"),
        *texts("moment", "verdict", *(question.heading for question in QUESTIONS)),
        *numbers("round", "epoch", "units"),
        *estimates("gap"),
        *numbers("evidence", "needed for an alarm"),
    )
    rows = [
        (
            text_cell(titles.get(history.comparison, history.comparison)),
            text_cell(point.at.isoformat()),
            *map(
                text_cell,
                (point.verdict.value, point.same_treatment or "", point.group_effect or ""),
            ),
            *map(number_cell, (point.round, point.epoch, point.units)),
            estimate_cell(point.gap),
            *map(number_cell, (point.log_e, point.bound)),
        )
        for history in histories
        for point in history.moments
    ]
    return Table("Evidence over time", columns, tuple(rows))


def histories_since(
    histories: Iterable[History], ends: Mapping[int, datetime], since: datetime | None
) -> Iterator[History]:
    """Yield histories since a moment, with rounds of traffic at the end of their windows.

    A history that would have fewer than two rounds stays whole.
    """
    for history in histories:
        moments = [
            point.model_copy(update={"at": ends.get(point.round, point.at)})
            for point in history.moments
        ]
        recent = [point for point in moments if since is None or point.at >= since]
        yield history.model_copy(update={"moments": recent if len(recent) > 1 else moments})


def strata_table(views: Iterable[StrataView]) -> Table:
    """Return counts and gaps of each stratum, with the comparison if there are several."""
    views = list(views)
    is_alone = len(views) == 1
    columns = (
        *(() if is_alone else names("comparison")),
        *names("stratum"),
        *numbers(*SIDES),
        *estimates("adjusted gap", "unadjusted gap"),
    )
    rows = [
        (*(() if is_alone else (text_cell(view.title),)), *_stratum_cells(stratum))
        for view in views
        for stratum in view.strata
    ]
    return Table("Users and gaps by stratum", columns, tuple(rows))


def strata_table_of(view: StrataView) -> Table:
    """Return the strata of one comparison, with its groups in the titles."""
    table = strata_table([view])
    a, b = view.groups
    sides = (f"{a}, users", f"{b}, users", f"{a}, compared", f"{b}, compared")
    titles = dict(zip(SIDES, (*sides, f"mean of {a}", f"mean of {b}"), strict=True))
    columns = [replace(c, title=titles.get(c.title, c.title)) for c in table.columns]
    return replace(table, columns=tuple(columns))


def stratum_name(stratum: StratumView) -> str:
    """Return the name of a stratum: its facts."""
    return ", ".join(stratum.facts.values()) or SMALL_STRATA


def _stratum_cells(stratum: StratumView) -> tuple[TableCell, ...]:
    """Return the cells of a stratum: counts, means and gaps."""
    counts = (
        *(stratum.first_users, stratum.second_users),
        *(stratum.first_matched, stratum.second_matched),
    )
    return (
        text_cell(stratum_name(stratum), note=stratum.adjusted.reason),
        *map(number_cell, counts),
        *(number_cell(mean.value) for mean in (stratum.first_mean, stratum.second_mean)),
        *map(estimate_cell, (stratum.adjusted, stratum.unadjusted)),
    )
