"""The search for a change with references that sharpen."""

from collections.abc import Iterator
from math import log

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.change_search import (
    References,
    TypicalRounds,
    planned_change,
    smallest_changes,
)
from tests.support.one_search import after_round, evidence_of_search, made, newest
from tests.support.one_search import search as search_rounds
from tests.support.pair_histogram import PairHistogram

ALPHA, FIRST, SD = 0.003, 5, 0.25


def rounds_of(means: list[float], sets: int, seed: int) -> Iterator[PairHistogram]:
    rng = np.random.default_rng(seed)
    for mean in means:
        gaps = np.clip(rng.normal(mean, SD, sets), -1, 1)
        yield PairHistogram.of(gaps, rng.random(sets))


def search(means: list[float], sets: int, seed: int) -> list[References]:
    """Return the references after each round."""
    return list(search_rounds(list(rounds_of(means, sets, seed)), first=FIRST, alpha=ALPHA))


def test_references_are_taken_when_rounds_have_doubled_and_get_sharper() -> None:
    last = search([0.0] * 45, 30, 1)[-1]
    assert last.rounds.tolist() == [10, 20, 40]
    allowed = last.allowed.tolist()
    assert allowed == sorted(allowed, reverse=True)
    assert allowed[-1] < 0.6 * allowed[0]


def test_a_change_is_found_and_dated_and_what_stays_is_not() -> None:
    changed = search([0.1] * 30 + [0.25] * 12, 50, 2)
    evidence = [evidence_of_search(item) or 0.0 for item in changed]
    assert max(evidence[:30]) < 1
    assert evidence[-1] > -log(ALPHA)
    bets = changed[-1].bets
    began = bets.likeliest[np.argmax(bets.log_evidence)]
    assert abs(began - 30) <= 2


def test_there_is_no_evidence_before_a_round_after_a_reference() -> None:
    references = search([0.0] * 7, 10, 3)
    assert [evidence_of_search(reference) is None for reference in references] == [True] * 5 + [
        False
    ] * 2


def test_a_reference_that_leaves_nothing_to_bet_on_is_none() -> None:
    assert made(PairHistogram.empty(), 5, ALPHA) is None
    few = PairHistogram.of(np.array([0.1]), np.array([0.5]))
    assert made(few, 5, ALPHA) is None


@pytest.mark.parametrize("sets", [12, 50])
def test_about_half_of_the_changes_that_are_called_smallest_are_found(sets: int) -> None:
    before, after = 20, 20
    references = search([0.0] * before, sets, 4)[-1]
    bound = -log(ALPHA)
    rounds, kept = before + after, newest(references, 1)
    [size] = smallest_changes(
        kept, TypicalRounds(np.array([sets]), np.array([SD])), np.array([rounds]),
        np.array([rounds - FIRST]), np.array([bound]),
    )  # fmt: skip
    assert np.isfinite(size)
    evidence = []
    for seed in range(40):
        kept = newest(references, 1)
        for n, pairs in enumerate(rounds_of([float(size)] * after, sets, 100 + seed)):
            kept = after_round(kept, pairs, before - FIRST + 1 + n, before + n)
        evidence.append(evidence_of_search(kept) or 0.0)
    assert 0.3 <= np.mean([item >= bound for item in evidence]) <= 0.85


def test_no_change_is_small_enough_where_there_are_too_few_units() -> None:
    few = PairHistogram.of(np.zeros(400), np.zeros(400))
    reference = made(few, 5, ALPHA)
    assert reference is not None
    one, number = TypicalRounds(np.array([0.2]), np.array([SD])), np.array([6])
    references = smallest_changes(reference, one, number, np.array([1]), np.array([9.0]))
    assert references.tolist() == [np.inf]
    before = smallest_changes(reference, one, np.array([5]), np.array([0]), np.array([9.0]))
    assert before.tolist() == [np.inf]


def test_a_plan_finds_smaller_changes_with_more_units_and_longer_references() -> None:
    def planned(units: float, before: int = 30) -> float:
        references = planned_change(
            units, SD, first=FIRST, before=before, after=30, alpha=ALPHA,
            tolerance=0.0,
        )  # fmt: skip
        assert references is not None
        return references

    assert planned(12) > planned(50) > planned(200)
    assert planned(50, before=80) < planned(50, before=10)
    assert planned(50) < 0.1
    assert planned_change(
        0.2, SD, first=5, before=10, after=3, alpha=ALPHA, tolerance=0.0
    ) is None  # fmt: skip
