"""Every way of gathering evidence: a planted gap is read with the right sign and adds up."""

from collections.abc import Iterable
from functools import reduce
from random import Random

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors.alpha_shares import gap_alpha
from biaswatch.shared.analysis.monitors.change_detection import random_pairs
from biaswatch.shared.analysis.monitors.change_search import is_found, next_changes
from biaswatch.shared.analysis.monitors.gap_evidence import EvidenceRead, summaries_of
from biaswatch.shared.analysis.monitors.method import counted
from biaswatch.shared.analysis.monitors.pair_counts import GAPS, pair_table
from biaswatch.shared.analysis.monitors.round_answers import (
    ClosedCounts,
    Counts,
    PlannedAnswer,
    RoundAnswers,
    RoundCounts,
    RoundScope,
    Values,
    compared_sets,
    summed,
)
from biaswatch.shared.contracts import (
    Claim,
    Comparison,
    GapTest,
    Method,
    Stretch,
    Verdict,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.stats.anytime.units import binned, uniforms
from tests.support.records import make_evidence, make_plan, make_round

PAIR = WatchedPair(dimension="g", a="a", b="b")
UNDER_WAY = GapTest(number=1, share=0.6, left=0.4, rounds=Stretch(since_round=0), since_round=0)
SUITE_METHODS = [method for method in Method if method.facts.of_suites]


Given = tuple[str, str, str, Values]
"""Set, unit, group, and what was read."""


def answers_of(given: Iterable[Given]) -> RoundAnswers:
    rows = list(given)
    planned = [
        PlannedAnswer(set_, unit, {"g": group}, f"{number:032x}")
        for number, (set_, unit, group, _) in enumerate(rows)
    ]
    return RoundAnswers(planned, {"x": [values for *_, values in rows]})


def count(comparison: Comparison, seen: RoundAnswers, scope: RoundScope) -> RoundCounts:
    return counted([comparison], seen, scope)[0][comparison.key]


def comparison_of(method: Method) -> Comparison:
    limit = 0.5 if method.of_selections else None
    watched = WatchedFeature(
        extractor="x", feature="f", method=method, selected_at_least=limit, tolerance=0.05
    )
    return Comparison(watched=watched, pair=PAIR)


def answers(rng: Random, round_: int, rates: dict[str, float], twins: bool) -> RoundAnswers:
    result: list[Given] = []
    for number in range(40):
        for group, rate in rates.items():
            set_ = f"{round_}-{number}" + ("" if twins else group)
            value = float(rng.random() < rate)
            result.append((set_, f"{set_}{group}", group, {"f": value}))
    return answers_of(result)


@pytest.mark.parametrize("method", SUITE_METHODS)
def test_a_planted_gap_is_found_with_its_sign(method: Method) -> None:
    rng, comparison = Random(1), comparison_of(method)
    plan = make_plan(
        claim=Claim.POPULATION, sets_per_round=40, features=(comparison.watched,),
        comparisons=(PAIR,),
    )  # fmt: skip
    rounds: list[Counts] = []
    for number in range(25):
        seen = answers(rng, number, {"a": 0.7, "b": 0.3}, method is not Method.TWO_GROUPS)
        added = count(comparison, seen, RoundScope(Claim.POPULATION, number))
        assert added.missing == 0
        rounds.append(added.counts)
    read = EvidenceRead(comparison, reduce(summed, rounds), alpha=gap_alpha(plan, 1))
    [result] = summaries_of([read], family=2)
    assert result.verdict is Verdict.DISPARITY
    assert result.gap.value is not None
    assert result.gap.low is not None
    assert 0 < result.gap.low < result.gap.value
    assert reduce(summed, rounds) == reduce(summed, reversed(rounds))


def rounds_of(comparison: Comparison, rates: list[dict[str, float]], seed: int) -> list[Counts]:
    rng, result = Random(seed), []
    for number, rate in enumerate(rates):
        seen = answers(rng, number, rate, comparison.watched.method is not Method.TWO_GROUPS)
        place = RoundScope(Claim.POPULATION, number)
        result.append(count(comparison, seen, place).counts)
    return result


def changed(comparison: Comparison, rates: list[dict[str, float]], level: bool, seed: int) -> bool:
    """Tell whether a change ever alarms, the first five rounds being the first reference."""
    plan = make_plan(
        claim=Claim.POPULATION, sets_per_round=40, features=(comparison.watched,),
        comparisons=(PAIR,),
    )  # fmt: skip
    total: Counts = {}
    last = None
    for number, counts in enumerate(rounds_of(comparison, rates, seed)):
        closed, total = make_round(round=number), summed(total, counts) if total else counts
        here = ClosedCounts(closed, counts, total, lambda _: {})
        [change] = next_changes([last], [here], plan, level=level)
        if is_found(change):
            return True
        result = {"level_change" if level else "change": change}
        last = make_evidence(round=number, test=UNDER_WAY, **result)
    return False


@pytest.mark.parametrize("method", SUITE_METHODS)
def test_a_changed_gap_and_a_changed_level_are_told_apart_by_every_method(method: Method) -> None:
    comparison = comparison_of(method)
    before, wider, lower = {"a": 0.7, "b": 0.7}, {"a": 0.9, "b": 0.4}, {"a": 0.3, "b": 0.3}
    assert changed(comparison, [before] * 5 + [wider] * 25, False, 1)
    assert not changed(comparison, [before] * 5 + [wider] * 25, True, 1)
    assert changed(comparison, [before] * 5 + [lower] * 25, True, 2)
    assert not changed(comparison, [before] * 5 + [lower] * 25, False, 2)


@pytest.mark.parametrize("method", SUITE_METHODS)
def test_a_gap_that_stays_is_no_change(method: Method) -> None:
    same = [{"a": 0.8, "b": 0.5}] * 30
    for seed in range(8):
        for level in (False, True):
            assert not changed(comparison_of(method), same, level, seed)


def test_rounds_that_keep_no_pairs_are_searched_for_no_change() -> None:
    plan = make_plan(features=(comparison_of(Method.PAIRS).watched,), comparisons=(PAIR,))
    users: dict[str, tuple[int, ...]] = {"first": (1, 2), "second": (2, 1)}
    here = ClosedCounts(make_round(), users, users, lambda _: {})
    assert next_changes([None], [here], plan) == [None]


def test_units_without_twins_are_paired_once_and_those_of_a_set_with_each_other() -> None:
    first = {"x": 0.1, "y": 0.2, "p": 0.9}
    second = {"u": 0.3, "v": 0.4, "w": 0.5, "p": 0.8}
    pairs = random_pairs(first, second, "salt")
    assert pairs["p p"] == (0.9, 0.8)
    assert len(pairs) == 3
    assert {a for a, _ in pairs.values()} == {0.1, 0.2, 0.9}
    assert len({b for _, b in pairs.values()}) == 3
    assert pairs == random_pairs(dict(reversed(first.items())), second, "salt")
    assert any(random_pairs(first, second, f"{n}").keys() != pairs.keys() for n in range(9))


def test_one_group_is_compared_with_all_others_each_weighing_the_same() -> None:
    watched = WatchedFeature(extractor="x", feature="f")
    comparison = Comparison(watched=watched, pair=WatchedPair(dimension="g", a="a"))
    given = [("a", 1.0), ("b", 0.0), ("b", 0.0), ("b", 0.0), ("c", 1.0)]
    seen = answers_of(("s", f"u{i}", g, {"f": v}) for i, (g, v) in enumerate(given))
    assert compared_sets(comparison, seen).sets["s"].gap == 0.5
    assert gap_bounds(comparison, seen) == (0.5, 0.5, 0.5)


def gap_bounds(comparison: Comparison, seen: RoundAnswers) -> tuple[float, ...]:
    """Return the least, the most and the seen gap of the only set, from what is counted."""
    counts = count(comparison, seen, RoundScope(Claim.BANK, 0)).counts
    whole = dict.fromkeys(("lower", "upper", "seen"), counts["counts"])
    parts = {name: counts.get(f"counts_{name}", row) for name, row in whole.items()}
    return tuple(float(np.dot(row, np.linspace(-1, 1, 129))) for row in parts.values())


def test_only_what_is_missing_of_a_set_is_bounded() -> None:
    given: list[Given] = [("s", f"a{i}", "a", {"f": 1.0}) for i in range(4)]
    given += [("s", f"b{i}", "b", {"f": 0.0}) for i in range(3)] + [("s", "b3", "b", None)]
    seen, comparison = answers_of(given), comparison_of(Method.PAIRS)
    assert gap_bounds(comparison, seen) == (0.75, 1.0, 1.0)
    added = count(comparison, seen, RoundScope(Claim.BANK, 0))
    assert (added.missing, sum(added.counts["counts"])) == (1, 0)
    levels = {name: row for name, row in added.counts.items() if name.startswith("level")}
    assert set(levels) == {"level", "level_lower", "level_upper", "level_seen"}


def test_a_set_of_which_a_side_did_not_come_may_have_any_gap_that_the_other_allows() -> None:
    given: list[Given] = [("s", "a1", "a", {"f": 1.0}), ("s", "b1", "b", None)]
    assert gap_bounds(comparison_of(Method.PAIRS), answers_of(given)) == (0.0, 1.0, 0.0)
    added = count(comparison_of(Method.PAIRS), answers_of(given), RoundScope(Claim.BANK, 0))
    assert sum(added.counts["counts_seen"]) == 0


@pytest.mark.parametrize("b", ["b", None])
def test_all_comparisons_at_once_are_counted_as_each_set_by_itself(b: str | None) -> None:
    rng = Random(5)
    given: list[Given] = []
    for n in range(60):
        for group in rng.sample("abcd", rng.randint(1, 4)):
            for unit in range(rng.randint(1, 3)):
                for _ in range(rng.randint(1, 3)):
                    values = {"f": rng.uniform(2, 7), "h": rng.choice([3.0, None, 9.0])}
                    read = values if rng.random() < 0.95 else None
                    given.append((f"s{n}", f"s{n}{group}{unit}", group, read))
    seen = answers_of(given)
    watched = [WatchedFeature(extractor="x", feature=f, low=2, high=7) for f in "fh"]
    pair = WatchedPair(dimension="g", a="a", b=b)
    comparisons = [Comparison(watched=item, pair=pair) for item in watched]
    scope = RoundScope(Claim.BANK, 3)
    together = counted(comparisons, seen, scope)[0]
    for comparison in comparisons:
        sets = compared_sets(comparison, seen)
        compared = {name: s for name, s in sets.sets.items() if s.compared}
        low = [s.a.mean_with(2) - s.b.mean_with(7) for s in compared.values()]
        high = [s.a.mean_with(7) - s.b.mean_with(2) for s in compared.values()]
        incomplete = [s.gap is None for s in compared.values()]
        jitter = uniforms([scope.unit_id(name) for name in compared], comparison.key)
        result = together[comparison.key]
        assert (result.missing, result.outside) == (sum(incomplete), sets.outside)
        state = pair_table([result.counts], [GAPS])
        lower, upper = (
            np.array(binned(np.clip(np.array(ends) / 5, -1, 1), -1, 1, 129, jitter))
            for ends in (low, high)
        )
        # Sums in another order may round a value that lies at a bin to the one before.
        assert np.abs(state.lower[0] - lower).sum() <= 4
        assert np.abs(state.upper[0] - upper).sum() <= 4


def bank_of(gaps: dict[str, float | None]) -> RoundAnswers:
    """Return sets of two groups with these gaps; None is a set with a missing answer."""
    return answers_of(
        (name, name + group, group, given)
        for name, gap in gaps.items()
        for group, given in (("a", None if gap is None else {"f": gap}), ("b", {"f": 0.0}))
    )


def test_a_bank_bounds_what_is_missing_in_any_order() -> None:
    gaps = {f"set-{i}": 0.3 if i else None for i in range(20)}
    bank, comparison = bank_of(gaps), comparison_of(Method.PAIRS)
    closed = count(comparison, bank, RoundScope(Claim.BANK, 1))
    assert (closed.missing, sum(closed.counts["counts"])) == (1, 19)
    assert sum(closed.counts["counts_lower"]) == sum(closed.counts["counts_upper"]) == 1
    again = bank_of(dict(reversed(gaps.items())))
    assert count(comparison, again, RoundScope(Claim.BANK, 1)) == closed
    # A unit of a bank is a set in a round, so it is rounded anew in each.
    assert count(comparison, bank, RoundScope(Claim.BANK, 2)) != closed


def test_a_population_leaves_out_what_is_missing_and_knows_no_rounds() -> None:
    drawn, comparison = bank_of({"b": 0.3, "c": None, "d": 0.125}), comparison_of(Method.PAIRS)
    closed = count(comparison, drawn, RoundScope(Claim.POPULATION, 1))
    assert (closed.missing, sum(closed.counts["counts"])) == (1, 2)
    assert set(closed.counts) == {"counts", "level"}
    assert count(comparison, drawn, RoundScope(Claim.POPULATION, 2)) == closed


def test_groups_without_twins_are_units_and_twins_among_them_are_one_difference() -> None:
    given: list[Given] = [("s", "sa", "a", {"f": 1.0}), ("s", "sb", "b", {"f": 0.0})]
    given += [("t", "ta", "a", {"f": 1.0}), ("t", "tb", "b", None), ("u", "ub", "b", {"f": 0.0})]
    added = count(
        comparison_of(Method.TWO_GROUPS), answers_of(given), RoundScope(Claim.POPULATION, 0)
    )
    sums = {name: sum(added.counts[name]) for name in ("first", "second", "twins")}
    assert (sums, added.missing) == ({"first": 1, "second": 1, "twins": 1}, 1)
    assert added.counts["twins"][-1] == 1
