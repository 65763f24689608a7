"""The four-fifths rule keeps its level with several units a group, some of them missing."""

import numpy as np

from biaswatch.shared.analysis.monitors.method import counted
from biaswatch.shared.analysis.monitors.round_answers import (
    Counts,
    PlannedAnswer,
    RoundAnswers,
    RoundScope,
    summed,
)
from biaswatch.shared.analysis.monitors.selections import impact_ratio_of
from biaswatch.shared.contracts import Claim, Comparison, WatchedFeature, WatchedPair
from biaswatch.shared.formatting import number
from tests.support.evidence_checks import most_allowed

ALPHA = 0.05
RATING = WatchedFeature(extractor="x", feature="rating", low=0, high=1, selected_at_least=1)
COMPARISON = Comparison(watched=RATING, pair=WatchedPair(dimension="race", a="black", b="white"))
UNITS = 2
SETS = 40
ROUNDS = 8


def counts_of(rng: np.random.Generator, round_: int, rates: tuple[float, float]) -> Counts:
    """Return a round of sets of two units a group; a tenth of the second group's have no answer."""
    planned, values = [], []
    for place in range(SETS * UNITS):
        for group, rate in zip(("black", "white"), rates, strict=True):
            unit = f"{round_}/{place}/{group}"
            planned.append(
                PlannedAnswer(f"{round_}/{place // UNITS}", unit, {"race": group}, "0" * 32)
            )
            missing = group == "white" and rng.random() < 0.1
            values.append(None if missing else {"rating": float(rng.random() < rate)})
    answers = RoundAnswers(planned, {"x": values})
    scope = RoundScope(Claim.POPULATION, round_)
    return counted([COMPARISON], answers, scope)[0][COMPARISON.key].counts


def ever_below(seed: int, rates: tuple[float, float]) -> bool:
    """Tell whether the interval of the ratio ever lies below four fifths."""
    rng, counts = np.random.default_rng(seed), None
    for round_ in range(ROUNDS):
        added = counts_of(rng, round_, rates)
        counts = added if counts is None else summed(counts, added)
        ratio = impact_ratio_of(counts, ALPHA)
        if ratio is not None and ratio.high is not None and ratio.high < 0.8:
            return True
    return False


def test_rates_at_four_fifths_are_hardly_ever_said_to_be_below() -> None:
    times = 60
    false = sum(ever_below(seed, (0.4, 0.5)) for seed in range(times)) / times
    assert false <= most_allowed(times, ALPHA)


def test_half_the_rate_is_found_to_be_below() -> None:
    times = 20
    result = sum(ever_below(seed, (0.3, 0.6)) for seed in range(times)) / times
    assert result >= 0.8, number(result)
