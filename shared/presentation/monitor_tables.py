"""Tables of a monitor: comparisons, windows of traffic, history, strata."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from biaswatch.shared.analysis.monitors.strata_views import StrataView, StratumView
from biaswatch.shared.contracts import ACCOUNTS, AnswerAccounts, Estimate
from biaswatch.shared.contracts.answer_accounts import account_label
from biaswatch.shared.formatting import number, number_name
from biaswatch.shared.presentation.charts import Axis, padded_axis
from biaswatch.shared.presentation.tables import (
    PageCell,
    PageColumn,
    PageTable,
    number_cell,
    words_cell,
)
from biaswatch.shared.requests.evidence import EvidenceView, WindowView
from biaswatch.shared.requests.monitor_views import History, LabelledEvidence


def evidence_table(
    monitor: str, evidence: Sequence[EvidenceView], titles: Mapping[str, str]
) -> PageTable:
    """Return a row for each comparison: verdict, gap, evidence, what could still be found."""
    searched = any(each.change_searched for each in evidence)
    numeric = (
        *("gap", "from", "to", "evidence", "needed for an alarm", "units", "missing"),
        *("units still needed", *(("smallest change it can see",) if searched else ())),
    )
    columns = (
        PageColumn("comparison", name=True),
        PageColumn("verdict"),
        *(PageColumn(title, numeric=True) for title in numeric),
    )
    rows = []
    for each in evidence:
        counts = (each.units, each.missing, each.more_units)
        rows.append(
            (
                words_cell(
                    titles.get(each.comparison, each.comparison),
                    href=f"/monitors/{quote(monitor)}?comparison={quote(each.comparison)}#over-time",
                    note="stands out now" if each.stands_out else None,
                ),
                PageCell(words_of(each.verdict), each.verdict.value, chip=each.verdict.value),
                *(number_cell(end) for end in (each.gap.value, each.gap.low, each.gap.high)),
                number_cell(each.log_e),
                number_cell(each.bound),
                *(number_cell(count) for count in counts),
                *((_smallest(each.smallest_change),) if searched else ()),
            )
        )
    return PageTable("Comparisons of the monitor", columns, tuple(rows))


def labelled_table(
    found: Sequence[LabelledEvidence], evidence: Sequence[EvidenceView]
) -> PageTable:
    """Return a row for each comparison that people label: by labels, and by readings beside."""
    by_readings = {each.comparison: each for each in evidence}
    ends = ("gap by labels", "from", "to", "gap by readings", "from", "to")
    numeric = (*ends, "evidence by labels", "needed for an alarm", "pairs", "rounds")
    columns = (
        PageColumn("comparison", name=True),
        PageColumn("verdict by labels"),
        *(PageColumn(title, numeric=True) for title in numeric),
    )
    rows = []
    for each in found:
        gap, read = each.gap, by_readings.get(each.comparison)
        raw = read.gap if read else Estimate()
        rows.append(
            (
                words_cell(
                    each.title,
                    href=f"/runs/{each.run_id}",
                    note=None if gap.no_alarm is None else f"no alarm: {gap.no_alarm}",
                ),
                PageCell(words_of(gap.verdict), gap.verdict.value, chip=gap.verdict.value),
                *(number_cell(end) for end in (gap.value, gap.low, gap.high)),
                *(number_cell(end) for end in (raw.value, raw.low, raw.high)),
                *(number_cell(end) for end in (gap.log_e, gap.bound, gap.pairs, gap.rounds)),
            )
        )
    return PageTable("Comparisons as labels correct them", columns, tuple(rows))


def words_of(name: str) -> str:
    """Return a name of the code as people write it."""
    return str(name).replace("_", " ")


def accounts_table(accounts: AnswerAccounts, windows: Sequence[WindowView]) -> PageTable:
    """Return what became of the answers that were sent in: in all, and by window."""
    columns = (
        PageColumn("window, from"),
        PageColumn("state"),
        *(PageColumn(account_label(name), numeric=True) for name in ("sent", *ACCOUNTS)),
    )
    total = [words_cell("all"), words_cell(""), number_cell(accounts.sent), *_accounts(accounts)]
    rows = [tuple(total)]
    for each in windows:
        begins = words_cell(f"{each.window.begins:%Y-%m-%d %H:%M}", href=_answers_of(each))
        counts = _accounts(each.accounts)
        rows.append((begins, words_cell(each.state), number_cell(each.sent), *counts))
    return PageTable("What became of the answers that were sent in", columns, tuple(rows))


def window_table(window: WindowView) -> PageTable:
    """Return the numbers of one window by group."""
    names = ("number", "grouping", "group")
    counts = ("answers", "missing", "users")
    there = {(each.extractor, each.feature) for each in window.described}
    columns = (
        *(PageColumn(name, name=True) for name in names),
        *(PageColumn(name, numeric=True) for name in (*counts, "mean", "from", "to")),
    )
    rows = [
        (
            words_cell(number_name(each.extractor, each.feature, there)),
            words_cell(words_of(each.dimension)),
            words_cell(group.group),
            *(number_cell(n) for n in (group.responses, group.missing, group.units)),
            *(number_cell(n) for n in (group.mean.value, group.mean.low, group.mean.high)),
        )
        for each in window.described
        for group in each.groups
    ]
    return PageTable("The last window by group", columns, tuple(rows))


def history_table(histories: Sequence[History], titles: Mapping[str, str]) -> PageTable:
    """Return every round of every comparison, as the charts draw them."""
    numbers = ("round", "epoch", "units", "gap", "from", "to", "evidence", "needed for an alarm")
    columns = (
        PageColumn("comparison", name=True),
        PageColumn("moment"),
        PageColumn("verdict"),
        *(PageColumn(name, numeric=True) for name in numbers),
    )
    rows = [
        (
            words_cell(titles.get(history.comparison, history.comparison)),
            words_cell(point.at.isoformat()),
            words_cell(point.verdict.value),
            *(number_cell(n) for n in (point.round, point.epoch, point.units)),
            *(number_cell(n) for n in (point.gap.value, point.gap.low, point.gap.high)),
            number_cell(point.log_e),
            number_cell(point.bound),
        )
        for history in histories
        for point in history.moments
    ]
    return PageTable("Evidence over time", columns, tuple(rows))


def _accounts(accounts: AnswerAccounts | None) -> list[PageCell]:
    return [number_cell(getattr(accounts, name) if accounts else None) for name in ACCOUNTS]


def _answers_of(window: WindowView) -> str | None:
    return f"/runs/{window.run_id}/answers" if window.run_id else None


def _smallest(change: Estimate) -> PageCell:
    if change.value is None:
        return words_cell("-", note=change.reason)
    return PageCell(number(change.value), change.value)


ACROSS = 1000.0
OTHERS = "all smaller strata"
SIDES = (
    *("first group", "second group", "first, compared", "second, compared"),
    *("mean of the first", "mean of the second"),
)
NO_ESTIMATE = Estimate(reason="there is none yet")


@dataclass(frozen=True)
class StratumGapRow:
    """A gap with its interval, and the one that is not adjusted beside it."""

    name: str
    low: float | None
    value: float | None
    high: float | None
    beside: float | None
    text: str


@dataclass(frozen=True)
class StrataPlot:
    """The gap of all users and of each stratum, on one axis."""

    rows: tuple[StratumGapRow, ...]
    zero: float
    low_text: str
    high_text: str
    flat: bool
    """Whether no gap is anything but 0."""


def strata_plot(found: StrataView) -> StrataPlot:
    """Return the gaps below one another: all users first, then each stratum."""
    overall = found.adjusted or NO_ESTIMATE, found.unadjusted or NO_ESTIMATE
    named = [("all strata", *overall)]
    named += [(stratum_name(each), each.adjusted, each.unadjusted) for each in found.strata]
    values = [end for _, *both in named for gap in both for end in (gap.low, gap.value, gap.high)]
    axis = padded_axis([0.0, *(each for each in values if each is not None)], 0.0, ACROSS)
    return StrataPlot(
        rows=tuple(_row(axis, *each) for each in named),
        zero=axis.at(0.0),
        low_text=number(axis.low),
        high_text=number(axis.high),
        flat=not any(gap.value for _, *both in named for gap in both),
    )


def strata_table(views: Iterable[StrataView]) -> PageTable:
    """Return a row for each stratum, with counts and both gaps; with its comparison if several."""
    shown = list(views)
    alone = len(shown) == 1
    numeric = (*SIDES, *("adjusted gap", "from", "to", "unadjusted gap", "from", "to"))
    columns = (
        *(() if alone else (PageColumn("comparison", name=True),)),
        PageColumn("stratum", name=True),
        *(PageColumn(title, numeric=True) for title in numeric),
    )
    rows = [
        (*(() if alone else (words_cell(view.title),)), *_cells(each))
        for view in shown
        for each in view.strata
    ]
    return PageTable("Users and gaps by stratum", columns, tuple(rows))


def table_of_one(view: StrataView) -> PageTable:
    """Return the same of one comparison, whose columns are called by its groups."""
    table = strata_table([view])
    a, b = view.groups
    sides = (f"{a}, users", f"{b}, users", f"{a}, compared", f"{b}, compared")
    named = dict(zip(SIDES, (*sides, f"mean of {a}", f"mean of {b}"), strict=True))
    columns = [replace(each, title=named.get(each.title, each.title)) for each in table.columns]
    return replace(table, columns=tuple(columns))


def stratum_name(stratum: StratumView) -> str:
    """Return what a stratum is called: its facts."""
    return ", ".join(stratum.facts.values()) or OTHERS


def _cells(each: StratumView) -> tuple[PageCell, ...]:
    counts = (each.first_users, each.second_users, each.first_matched, each.second_matched)
    return (
        words_cell(stratum_name(each), note=each.adjusted.reason),
        *map(number_cell, counts),
        *(number_cell(mean.value) for mean in (each.first_mean, each.second_mean)),
        *(number_cell(end) for gap in (each.adjusted, each.unadjusted) for end in _ends(gap)),
    )


def _ends(gap: Estimate) -> tuple[float | None, ...]:
    return gap.value, gap.low, gap.high


def _row(axis: Axis, name: str, adjusted: Estimate, unadjusted: Estimate) -> StratumGapRow:
    def at(value: float | None) -> float | None:
        return None if value is None else axis.at(value)

    return StratumGapRow(
        name=name,
        low=at(adjusted.low),
        value=at(adjusted.value),
        high=at(adjusted.high),
        beside=at(unadjusted.value),
        text=_told(adjusted),
    )


def _told(gap: Estimate) -> str:
    if gap.low is None or gap.high is None:
        return number(gap.value)
    return f"{number(gap.value)} ({number(gap.low)} to {number(gap.high)})"
