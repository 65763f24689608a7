"""Every way of gathering evidence: a planted gap is read with the right sign and adds up."""

from functools import reduce
from random import Random

import pytest

from services.diagnoser.domain.monitors.change_detection import (
    change_bound,
    next_change,
    random_pairs,
    reference_of,
)
from services.diagnoser.domain.monitors.evidence import summary_of
from services.diagnoser.domain.monitors.method import method_of
from services.diagnoser.domain.monitors.round_answers import (
    ComparedSets,
    Counts,
    MeasuredAnswer,
    RoundCounts,
    RoundScope,
    compared_sets,
    summed,
)
from shared.contracts import Change, Claim, Comparison, Method, Verdict, WatchedFeature, WatchedPair
from tests.support.records import make_plan

PAIR = WatchedPair(dimension="g", a="a", b="b")


def count(comparison: Comparison, seen: ComparedSets, scope: RoundScope) -> RoundCounts:
    return method_of(comparison.watched.method).count(comparison, seen, scope)


def comparison_of(method: Method) -> Comparison:
    limit = 0.5 if method.of_selections else None
    watched = WatchedFeature(
        extractor="x", feature="f", method=method, selected_at_least=limit, tolerance=0.05
    )
    return Comparison(watched=watched, pair=PAIR)


def answers(rng: Random, round_: int, rates: dict[str, float], twins: bool) -> list[MeasuredAnswer]:
    found = []
    for number in range(40):
        for group, rate in rates.items():
            set_ = f"{round_}-{number}" + ("" if twins else group)
            value = float(rng.random() < rate)
            found.append(
                MeasuredAnswer(set_, f"{set_}{group}", {"g": group}, "x", "0" * 32, {"f": value})
            )
    return found


@pytest.mark.parametrize("method", list(Method))
def test_a_planted_gap_is_found_with_its_sign(method: Method) -> None:
    rng, comparison = Random(1), comparison_of(method)
    plan = make_plan(
        claim=Claim.POPULATION, sets_per_round=40, features=(comparison.watched,),
        comparisons=(PAIR,),
    )  # fmt: skip
    rounds: list[Counts] = []
    for number in range(25):
        seen = answers(rng, number, {"a": 0.7, "b": 0.3}, method is not Method.TWO_GROUPS)
        counted = count(
            comparison, compared_sets(comparison, seen), RoundScope(Claim.POPULATION, number)
        )
        assert counted.missing == 0
        rounds.append(counted.counts)
    found = summary_of(comparison, reduce(summed, rounds), plan, 0.0)
    assert found.verdict is Verdict.DISPARITY
    assert found.gap.value is not None
    assert found.gap.low is not None
    assert 0 < found.gap.low < found.gap.value
    assert reduce(summed, rounds) == reduce(summed, reversed(rounds))


def rounds_of(comparison: Comparison, rates: list[dict[str, float]], seed: int) -> list[Counts]:
    rng, found = Random(seed), []
    for number, rate in enumerate(rates):
        seen = answers(rng, number, rate, comparison.watched.method is not Method.TWO_GROUPS)
        place = RoundScope(Claim.POPULATION, number)
        found.append(count(comparison, compared_sets(comparison, seen), place).counts)
    return found


def changed(comparison: Comparison, rates: list[dict[str, float]], level: bool, seed: int) -> bool:
    """Tell whether a detector ever alarms, the first five rounds being the reference."""
    plan = make_plan(
        claim=Claim.POPULATION, sets_per_round=40, features=(comparison.watched,),
        comparisons=(PAIR,),
    )  # fmt: skip
    rounds = rounds_of(comparison, rates, seed)
    change = reference_of(reduce(summed, rounds[: plan.reference_rounds]), plan, level=level)
    assert change is not None
    for counts in rounds[plan.reference_rounds :]:
        change = next_change(change, counts, level=level)
        if (change.log_evidence or 0.0) >= change_bound(plan):
            return True
    return False


@pytest.mark.parametrize("method", list(Method))
def test_a_changed_gap_and_a_changed_level_are_told_apart_by_every_method(method: Method) -> None:
    comparison = comparison_of(method)
    before, wider, lower = {"a": 0.7, "b": 0.7}, {"a": 0.9, "b": 0.4}, {"a": 0.3, "b": 0.3}
    assert changed(comparison, [before] * 5 + [wider] * 25, False, 1)
    assert not changed(comparison, [before] * 5 + [wider] * 25, True, 1)
    assert changed(comparison, [before] * 5 + [lower] * 25, True, 2)
    assert not changed(comparison, [before] * 5 + [lower] * 25, False, 2)


@pytest.mark.parametrize("method", list(Method))
def test_a_gap_that_stays_is_no_change(method: Method) -> None:
    same = [{"a": 0.8, "b": 0.5}] * 30
    for seed in range(8):
        for level in (False, True):
            assert not changed(comparison_of(method), same, level, seed)


def test_a_round_that_keeps_no_pairs_moves_no_detector() -> None:
    plan = make_plan(features=(comparison_of(Method.PAIRS).watched,), comparisons=(PAIR,))
    users: dict[str, tuple[int, ...]] = {"first": (1, 2), "second": (2, 1)}
    assert reference_of(users, plan) is None
    change = Change(reference=0.0, allowed=0.1, log_a=(0.1,), log_b=(0.2,), steps=1)
    assert next_change(change, users) == change


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
    seen = compared_sets(
        comparison,
        [
            MeasuredAnswer("s", f"u{i}", {"g": g}, "x", "0" * 32, {"f": v})
            for i, (g, v) in enumerate(given)
        ],
    )
    assert seen.sets["s"].gap == 0.5


def test_a_set_with_any_missing_answer_has_no_gap() -> None:
    comparison = comparison_of(Method.PAIRS)
    seen = compared_sets(
        comparison,
        [
            MeasuredAnswer("s", "u1", {"g": "a"}, "x", "0" * 32, {"f": 1.0}),
            MeasuredAnswer("s", "u2", {"g": "b"}, "x", "0" * 32, {"f": 1.0}),
            MeasuredAnswer("s", "u2", {"g": "b"}, "x", "1" * 32, None),
        ],
    )
    counted = count(comparison, seen, RoundScope(Claim.BANK, 0))
    assert (counted.missing, counted.counts["absent"]) == (1, (1,))


def bank_of(gaps: dict[str, float | None]) -> ComparedSets:
    """Return sets of two groups with these gaps; None is a set with a missing answer."""
    values = [
        MeasuredAnswer(name, name + group, {"g": group}, "x", "0" * 32, given)
        for name, gap in gaps.items()
        for group, given in (("a", None if gap is None else {"f": gap}), ("b", {"f": 0.0}))
    ]
    return compared_sets(comparison_of(Method.PAIRS), values)


def test_a_bank_counts_what_is_missing_as_the_worst_case_in_any_order() -> None:
    gaps = {f"set-{i}": 0.3 if i else None for i in range(20)}
    bank, comparison = bank_of(gaps), comparison_of(Method.PAIRS)
    closed = count(comparison, bank, RoundScope(Claim.BANK, 1))
    assert (closed.missing, closed.counts["absent"], sum(closed.counts["counts"])) == (1, (1,), 19)
    again = bank_of(dict(reversed(gaps.items())))
    assert count(comparison, again, RoundScope(Claim.BANK, 1)) == closed
    # A unit of a bank is a set in a round, so it is rounded anew in each.
    assert count(comparison, bank, RoundScope(Claim.BANK, 2)) != closed


def test_a_population_leaves_out_what_is_missing_and_knows_no_rounds() -> None:
    drawn, comparison = bank_of({"b": 0.3, "c": None, "d": 0.125}), comparison_of(Method.PAIRS)
    closed = count(comparison, drawn, RoundScope(Claim.POPULATION, 1))
    assert (closed.missing, closed.counts["absent"], sum(closed.counts["counts"])) == (1, (0,), 2)
    assert count(comparison, drawn, RoundScope(Claim.POPULATION, 2)) == closed
