"""Evidence of quiet comparisons of twins, as columns: without an alarm or an earlier test.

All other comparisons are read one by one, by `evidence`; both have the same numbers.
"""

from dataclasses import dataclass
from functools import partial
from math import log

import numpy as np

from biaswatch.shared.analysis.monitors.alpha_shares import gap_alpha, gap_bound, share_beyond
from biaswatch.shared.analysis.monitors.change_detection import (
    bets_columns,
    by_value,
    late_starts_in,
)
from biaswatch.shared.analysis.monitors.change_search import SearchedPairs, are_found, changes_after
from biaswatch.shared.analysis.monitors.count_columns import CountColumns
from biaswatch.shared.analysis.monitors.gap_evidence import INTERVAL, NO_SETS, NO_UNITS
from biaswatch.shared.analysis.monitors.group_effects import UNDECLARED
from biaswatch.shared.analysis.monitors.pair_counts import GAPS, LEVEL, REPEATED, UNBALANCED
from biaswatch.shared.analysis.monitors.same_treatment import (
    same_treatment_bound,
    same_treatment_columns,
)
from biaswatch.shared.contracts import Evidence, Increment, Method, MonitorPlan
from biaswatch.shared.contracts.columns import (
    Column,
    Columns,
    are_known,
    chosen_from,
    inside,
    known_in,
    numbers_in,
    present_in,
    values_in,
)
from biaswatch.shared.contracts.evidence_rows import ComparisonRows
from biaswatch.shared.stats.anytime.judging import (
    EXPECTED,
    FIRST_ROUND_WEIGHT,
    NO_FORECASTS,
    VERDICTS,
    Decisions,
    TestParameters,
    judge,
    share_left,
    share_of_attempt,
    share_of_test,
)
from biaswatch.shared.stats.anytime.late_starts import LateStarts
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.arrays import Bools, Floats, Ints
from biaswatch.shared.stats.estimate import DIFFERS


def may_be_quiet(plan: MonitorPlan) -> bool:
    """Tell whether a plan has no evidence beyond twins and no declared horizon."""
    return plan.traffic is None and not plan.random and plan.looks is None


def are_quiet(added: ComparisonRows[Increment], last: ComparisonRows[Evidence] | None) -> Bools:
    """Tell which comparisons can be read as columns.

    Parameters
    ----------
    added, last
        What a round adds, and the evidence of the round before in the same epoch: of the same
        comparisons.
    """
    size, watched = len(added), ("comparison", "watched")
    methods = values_in(added.column(*watched, "method") or {"same": None}, size)
    quiet = np.array([method == Method.PAIRS for method in methods], dtype=np.bool_)
    quiet &= np.isnan(added.numbers(*watched, "selected_at_least"))
    counts = added.columns["counts"]
    for name in (GAPS, LEVEL):
        quiet &= are_known(inside(counts, name), size)
    return quiet if last is None else quiet & _have_rested(last)


def _have_rested(last: ComparisonRows[Evidence]) -> Bools:
    """Tell which comparisons had no alarm and no earlier test or search in their epoch."""
    size, rested = len(last), np.ones(len(last), dtype=np.bool_)
    rested &= ~are_known(last.column("recovery"), size)
    for name in ("test", "change", "level_change"):
        rested &= are_known(last.column(name, "rounds"), size)
        rested &= ~_are_kept(last.column(name, "rounds", "before"), size)
    rested &= ~_are_kept(last.column("shown", "before"), size)
    rested &= last.numbers("shown", "since_round") == last.numbers("test", "rounds", "since_round")
    rested &= np.isnan(last.numbers("shown", "attempt"))
    for name in ("change", "level_change"):
        rested &= ~are_found(last, name)
    return rested


def _are_kept(column: Column | None, size: int) -> Bools:
    """Tell where any part of counts is kept."""
    kept = np.zeros(size, dtype=np.bool_)
    if column is not None:
        at, column = column.get("some", [np.arange(size), column])
        for part in column["parts"].values():
            kept[at[are_known(part, len(at))]] = True
    return kept


@dataclass(frozen=True)
class QuietRound:
    """A round of quiet comparisons, which no earlier round or one of the same epoch precedes."""

    added: ComparisonRows[Increment]
    last: ComparisonRows[Evidence] | None
    plan: MonitorPlan
    round: int
    epoch: int

    def evidence(self) -> tuple[Columns, Bools]:
        """Return the columns of the evidence, and which comparisons alarm and are to be read."""
        size = len(self.added)
        added = CountColumns.of(self.added.columns["counts"], size)
        total = added
        if self.last is not None:
            total = CountColumns.of(self.last.columns["counts"], size).plus(added)
        tested, gaps = total.pairs(GAPS, new=True), added.pairs(GAPS)
        late = self._late(gaps, added)
        decisions, alphas = self._judged(tested, late)
        seen = total.pairs(GAPS) if REPEATED in total.parts else tested
        columns: dict[str, Column | None] = {
            "comparison": self.added.columns["comparison"],
            "rounds": {"array": self._before("rounds") + 1},
            "counts": total.column,
            "missing": {"array": self._before("missing") + self.added.numbers("missing")},
            "before": self._last("before"),
            "test": {"parts": self._tests(late, decisions)},
            "shown": {"parts": self._rounds},
            "change": {"parts": self._changes("change", gaps, seen)},
            "level_change": {
                "parts": self._changes("level_change", added.pairs(LEVEL), total.pairs(LEVEL))
            },
            **self._same_treatment(total),
            **self._summaries(tested, decisions, alphas),
            "group_effect_reason": {"same": UNDECLARED},
        }
        return present_in(columns), decisions.disparity

    def _last(self, *names: str) -> Column | None:
        return None if self.last is None else self.last.column(*names)

    def _before(self, *names: str, missing: float = 0) -> Ints:
        return np.asarray(numbers_in(self._last(*names), len(self.added), missing)).astype(np.int64)

    @property
    def _rounds(self) -> Columns:
        """The rounds of tests and searches: all of the epoch."""
        since: Column = {"array": self._before("test", "rounds", "since_round", missing=self.round)}
        return {"since_round": since, "before": {"parts": {}}}

    def _late(self, gaps: PairHistograms, added: CountColumns) -> LateStarts:
        """Return bets on gaps that began after the first round of a test."""
        size, late = len(self.added), self._last("test", "late")
        bets = late_starts_in(late["parts"] if late else {}, size)
        before = self.round - self._before("test", "rounds", "since_round", missing=self.round)
        begins = (before > 0) & ~added.keep([REPEATED])
        if not (rows := np.flatnonzero(begins)).size:
            return bets
        factors = gaps.of_rows(rows).wealths_beyond(self._tolerances[rows])
        weights = by_value(lambda number: log(share_of_attempt(number)), before[rows])
        after = bets.of_rows(rows).after(factors, weights, self.round)
        return after if len(rows) == size else bets.with_rows(rows, after)

    @property
    def _tolerances(self) -> Floats:
        """The tolerances as shares of the ranges."""
        return np.asarray(self._watched("tolerance") / self._spans, dtype=np.float64)

    @property
    def _spans(self) -> Floats:
        return np.asarray(self._watched("high") - self._watched("low"), dtype=np.float64)

    def _watched(self, name: str) -> Floats:
        return self.added.numbers("comparison", "watched", name).astype(np.float64)

    @property
    def _numbers(self) -> Ints:
        return self._before("test", "number", missing=1)

    def _judged(self, tested: PairHistograms, late: LateStarts) -> tuple[Decisions, Floats]:
        """Return the decisions, and the alpha of each test for the whole family."""
        alphas = by_value(partial(gap_alpha, self.plan), self._numbers)
        later = late.log_evidence
        parameters = TestParameters(
            tolerances=self._tolerances,
            alphas=alphas,
            family=len(self.plan.all_comparisons),
            disparity_share=share_beyond(self.plan),
            later=np.where(np.isfinite(later), later, np.nan),
        )
        return judge(tested, parameters), alphas

    def _tests(self, late: LateStarts, decisions: Decisions) -> Columns:
        since = self._before("test", "rounds", "since_round", missing=self.round)
        evidence, likeliest = late.log_evidence, late.likeliest
        weighs_more = evidence + log(1 - FIRST_ROUND_WEIGHT) > decisions.log_es - log(2)
        is_later = np.isfinite(evidence) & (likeliest >= 0) & weighs_more
        number = self._numbers
        return {
            "number": {"array": number},
            "share": {"array": by_value(share_of_test, number)},
            "left": {"array": by_value(share_left, number)},
            "rounds": {"parts": self._rounds},
            "late": {"parts": bets_columns(late)},
            "since_round": {"array": np.where(is_later, likeliest, since)},
        }

    def _summaries(
        self, tested: PairHistograms, decisions: Decisions, alphas: Floats
    ) -> dict[str, Column | None]:
        most = np.nan_to_num(numbers_in(self._last("log_supremum"), len(self.added), 0.0))
        more_units = decisions.more_units
        is_forecast = ~np.isnan(more_units)
        return {
            "units": {"array": decisions.units.astype(np.int64)},
            "gap": {"parts": self._gaps(tested, alphas / len(self.plan.all_comparisons))},
            "log_e": {"array": decisions.log_es},
            "log_supremum": {"array": np.maximum(most, decisions.log_es)},
            "bound": {"array": by_value(partial(gap_bound, self.plan), self._numbers)},
            "verdict": chosen_from(VERDICTS, decisions.verdict_codes),
            "reason": {"each": decisions.reasons},
            "more_units": known_in(np.where(is_forecast, more_units, 0).astype(int), is_forecast),
            "expected_verdict": chosen_from(EXPECTED, decisions.expected_codes),
            "no_forecast": chosen_from(NO_FORECASTS, decisions.no_forecast_codes),
        }

    def _gaps(self, tested: PairHistograms, alphas: Floats) -> Columns:
        """Return the gaps with their intervals, in the features' units."""
        spans, values = self._spans, tested.estimates
        ends = tested.intervals(alphas) * spans[:, None]
        reasons = np.where(np.isnan(values), np.where(tested.units > 0, 1, 2), 0)
        return {
            "value": {"array": values * spans},
            "low": {"array": ends[:, 0]},
            "high": {"array": ends[:, 1]},
            "method": {"same": INTERVAL},
            "reason": chosen_from((None, NO_SETS, NO_UNITS), reasons),
        }

    def _same_treatment(self, total: CountColumns) -> Columns:
        size = len(self.added)
        second = values_in(self.added.column("comparison", "pair", "b") or {"same": None}, size)
        answers = values_in(self._last("same_treatment") or {"same": None}, size)
        unbalanced = np.zeros(size, dtype=np.bool_)
        if UNBALANCED in total.parts:
            at, counts = total.parts[UNBALANCED]
            unbalanced[at] = counts[:, 0] > 0
        return same_treatment_columns(
            total.histogram(GAPS, new=True),
            np.array([name is None for name in second], dtype=np.bool_),
            unbalanced,
            np.array([answer == DIFFERS for answer in answers], dtype=np.bool_),
            same_treatment_bound(self.plan, self.epoch),
        )

    def _changes(self, name: str, added: PairHistograms, seen: PairHistograms) -> Columns:
        before = self._last(name)
        fields = before["parts"] if before else self._new_search
        level = name == "level_change"
        pairs = SearchedPairs(added, seen)
        return changes_after(fields, pairs, self.plan, self.round, level=level)

    @property
    def _new_search(self) -> Columns:
        return {
            "number": {"same": 1},
            "share": {"same": share_of_test(1)},
            "left": {"same": share_left(1)},
            "rounds": {"parts": self._rounds},
        }
