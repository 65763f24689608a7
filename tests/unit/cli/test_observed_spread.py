"""What a plan takes from a run: deviations, correlation, missing answers, as they were drawn."""

import numpy as np
import pytest

from biaswatch.planning.observed import observed_spread
from biaswatch.planning.runs import RunAssumptions, assumed_answers, like_a_run
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.errors import UsageError


def run_of(sets: int, repeats: int, *, twins: bool = True, binary: bool = False) -> Observations:
    """Draw prompts with a deviation of .1 (twins correlate by .5), answers of .2, 5 % missing."""
    rng = np.random.default_rng(4)
    shared = rng.normal(0, 0.1 * 0.5**0.5, sets)
    means = np.array([shared + rng.normal(0, 0.1 * 0.5**0.5, sets) + level for level in (0.1, 0.3)])
    answers = means[:, :, None] + rng.normal(0, 0.2, (2, sets, repeats))
    answers = (answers > 0.2).astype(float) if binary else answers
    answers[rng.random(answers.shape) < 0.05] = np.nan
    names = [(group, n) for group in "ab" for n in range(sets) for _ in range(repeats)]
    return Observations(
        features=("score",),
        values=answers.reshape(-1, 1),
        groups={"race": [group for group, _ in names]},
        units=[f"{group}{n}" for group, n in names],
        sets=[f"s{n}" for _, n in names] if twins else None,
        ranges={} if binary else {"score": None},
    )


def test_deviations_correlation_and_missing_answers_are_those_that_were_drawn() -> None:
    seen = observed_spread(run_of(600, 6), "race")
    assert (seen.mean, seen.sd) == pytest.approx((0.2, 0.2), abs=0.01)
    assert seen.between_sd == pytest.approx(0.1, abs=0.01)
    assert seen.set_correlation == pytest.approx(0.5, abs=0.1)
    assert seen.missing == pytest.approx(0.05, abs=0.01)
    assert (seen.repeats, seen.repeated, seen.bounds) == (6, True, None)


def test_without_repeats_the_whole_deviation_is_kept_and_twins_are_asked_for() -> None:
    seen = observed_spread(run_of(600, 1, twins=False), "race")
    assert not seen.repeated
    assert seen.set_correlation is None
    assert (seen.sd or 0) ** 2 + seen.between_sd**2 == pytest.approx(0.05, abs=0.005)


def test_what_is_given_stands_and_the_rest_is_the_runs() -> None:
    seen = observed_spread(run_of(300, 4), "race")
    answers = assumed_answers(like_a_run(RunAssumptions(gap=0.1, sd=0.33, missing=0.0), seen))
    assert (answers.sd, answers.missing) == (0.33, 0.0)
    assert answers.between_sd == seen.between_sd
    assert (answers.mean_a + answers.mean_b) / 2 == pytest.approx(seen.mean)
    yes = observed_spread(run_of(300, 4, binary=True), "race")
    rates = assumed_answers(like_a_run(RunAssumptions(gap=0.1), yes))
    assert (rates.sd, rates.bounds) == (None, (0.0, 1.0))
    assert rates.mean_a == pytest.approx(yes.mean + 0.05)


def test_a_run_without_two_prompts_of_a_group_says_so() -> None:
    with pytest.raises(UsageError, match="does not show the spread of answers"):
        observed_spread(run_of(1, 5), "race")
