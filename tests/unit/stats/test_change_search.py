"""The search for a change with references that sharpen."""

from collections.abc import Iterator
from math import log

import numpy as np
import pytest

from shared.stats.anytime.change_search import (
    KEPT,
    ReferenceRounds,
    TypicalRound,
    after_round,
    is_due,
    likeliest_start,
    log_evidence,
    planned_change,
    smallest_change,
)
from shared.stats.anytime.pairs import PairHistogram

ALPHA, FIRST, SD = 0.003, 5, 0.25


def rounds_of(means: list[float], sets: int, seed: int) -> Iterator[PairHistogram]:
    rng = np.random.default_rng(seed)
    for mean in means:
        gaps = np.clip(rng.normal(mean, SD, sets), -1, 1)
        yield PairHistogram.of(gaps, rng.random(sets))


def search(means: list[float], sets: int, seed: int) -> list[tuple[ReferenceRounds, ...]]:
    """Return the references after each round."""
    references: tuple[ReferenceRounds, ...] = ()
    total, steps, found = PairHistogram.empty(), 0, []
    for number, pairs in enumerate(rounds_of(means, sets, seed), start=1):
        total += pairs
        if references:
            steps += 1
            references = after_round(references, pairs, steps, number - 1)
        if is_due(references, number, FIRST):
            made = ReferenceRounds.of(total, number, alpha=ALPHA, tolerance=0.0)
            references = (*references, made)[-KEPT:] if made else references
        found.append(references)
    return found


def test_references_are_taken_when_rounds_have_doubled_and_get_sharper() -> None:
    last = search([0.0] * 45, 30, 1)[-1]
    assert [each.rounds for each in last] == [10, 20, 40]
    allowed = [each.allowed for each in last]
    assert allowed == sorted(allowed, reverse=True)
    assert allowed[-1] < 0.6 * allowed[0]


def test_a_change_is_found_and_dated_and_what_stays_is_not() -> None:
    changed = search([0.1] * 30 + [0.25] * 12, 50, 2)
    evidence = [log_evidence(each) or 0.0 for each in changed]
    assert max(evidence[:30]) < 1
    assert evidence[-1] > -log(ALPHA)
    began = likeliest_start(changed[-1])
    assert began is not None
    assert abs(began - 30) <= 2


def test_there_is_no_evidence_before_a_round_after_a_reference() -> None:
    found = search([0.0] * 7, 10, 3)
    assert [log_evidence(each) is None for each in found] == [True] * 5 + [False] * 2
    assert likeliest_start(found[3]) is None


def test_a_reference_that_leaves_nothing_to_bet_on_is_none() -> None:
    assert ReferenceRounds.of(PairHistogram.empty(), 5, alpha=ALPHA, tolerance=0.0) is None
    few = PairHistogram.of(np.array([0.1]), np.array([0.5]))
    assert ReferenceRounds.of(few, 5, alpha=ALPHA, tolerance=0.0) is None


@pytest.mark.parametrize("sets", [12, 50])
def test_about_half_of_the_changes_that_are_called_smallest_are_found(sets: int) -> None:
    before, after = 20, 20
    references = search([0.0] * before, sets, 4)[-1]
    bound = -log(ALPHA)
    rounds, typical = before + after, TypicalRound(sets, SD)
    size = smallest_change(
        references[-1:], typical, rounds=rounds, steps=rounds - FIRST, bound=bound
    )
    assert size is not None
    evidence = []
    for seed in range(40):
        kept = references[-1:]
        for n, pairs in enumerate(rounds_of([size] * after, sets, 100 + seed)):
            kept = after_round(kept, pairs, before - FIRST + 1 + n, before + n)
        evidence.append(log_evidence(kept) or 0.0)
    assert 0.3 <= np.mean([each >= bound for each in evidence]) <= 0.85


def test_no_change_is_small_enough_where_there_are_too_few_units() -> None:
    reference = ReferenceRounds(0.0, 0.5, 5)
    few = TypicalRound(1, SD)
    assert smallest_change([reference], few, rounds=6, steps=1, bound=9.0) is None
    assert smallest_change([], few, rounds=3, steps=0, bound=9.0) is None


def test_a_plan_finds_smaller_changes_with_more_units_and_longer_references() -> None:
    def planned(units: float, before: int = 30) -> float:
        found = planned_change(
            TypicalRound(units, SD), first=FIRST, before=before, after=30, alpha=ALPHA,
            tolerance=0.0,
        )  # fmt: skip
        assert found is not None
        return found

    assert planned(12) > planned(50) > planned(200)
    assert planned(50, before=80) < planned(50, before=10)
    assert planned(50) < 0.1
    nothing = TypicalRound(0.2, SD)
    assert planned_change(
        nothing, first=5, before=10, after=3, alpha=ALPHA, tolerance=0.0
    ) is None  # fmt: skip
