"""Every way of gathering evidence: a planted gap is read with the right sign and adds up."""

from functools import reduce
from random import Random

import pytest

from services.diagnoser.domain.monitors.answers import Answer, sorted_for
from services.diagnoser.domain.monitors.counting import Counts, Place, added, count
from services.diagnoser.domain.monitors.reading import read
from shared.contracts import Claim, Comparison, Method, Verdict, WatchedFeature, WatchedPair
from shared.testing.records import make_plan

PAIR = WatchedPair(dimension="g", a="a", b="b")


def comparison_of(method: Method) -> Comparison:
    limit = 0.5 if method.of_selections else None
    watched = WatchedFeature(
        extractor="x", feature="f", method=method, selected_at_least=limit, tolerance=0.05
    )
    return Comparison(watched=watched, pair=PAIR)


def answers(luck: Random, round_: int, rates: dict[str, float], twins: bool) -> list[Answer]:
    found = []
    for number in range(40):
        for group, rate in rates.items():
            set_ = f"{round_}-{number}" + ("" if twins else group)
            value = float(luck.random() < rate)
            found.append(Answer(set_, f"{set_}{group}", {"g": group}, "x", "0" * 32, {"f": value}))
    return found


@pytest.mark.parametrize("method", list(Method))
def test_a_planted_gap_is_found_with_its_sign(method: Method) -> None:
    luck, comparison = Random(1), comparison_of(method)
    plan = make_plan(
        claim=Claim.POPULATION, sets_per_round=40, features=(comparison.watched,),
        comparisons=(PAIR,),
    )  # fmt: skip
    rounds: list[Counts] = []
    for number in range(25):
        seen = answers(luck, number, {"a": 0.7, "b": 0.3}, method is not Method.TWO_GROUPS)
        counted = count(comparison, sorted_for(comparison, seen), Place(Claim.POPULATION, number))
        assert counted.missing == 0
        rounds.append(counted.counts)
    found = read(comparison, reduce(added, rounds), plan, 0.0)
    assert found.verdict is Verdict.DISPARITY
    assert found.gap.value is not None
    assert found.gap.low is not None
    assert 0 < found.gap.low < found.gap.value
    assert reduce(added, rounds) == reduce(added, reversed(rounds))


def test_one_group_is_compared_with_all_others_each_weighing_the_same() -> None:
    watched = WatchedFeature(extractor="x", feature="f")
    comparison = Comparison(watched=watched, pair=WatchedPair(dimension="g", a="a"))
    given = [("a", 1.0), ("b", 0.0), ("b", 0.0), ("b", 0.0), ("c", 1.0)]
    seen = sorted_for(
        comparison,
        [Answer("s", f"u{i}", {"g": g}, "x", "0" * 32, {"f": v}) for i, (g, v) in enumerate(given)],
    )
    assert seen.sets["s"].gap == 0.5


def test_a_set_with_any_missing_answer_has_no_gap() -> None:
    comparison = comparison_of(Method.PAIRS)
    seen = sorted_for(
        comparison,
        [
            Answer("s", "u1", {"g": "a"}, "x", "0" * 32, {"f": 1.0}),
            Answer("s", "u2", {"g": "b"}, "x", "0" * 32, {"f": 1.0}),
            Answer("s", "u2", {"g": "b"}, "x", "1" * 32, None),
        ],
    )
    counted = count(comparison, seen, Place(Claim.BANK, 0))
    assert (counted.missing, counted.counts["absent"]) == (1, (1,))
