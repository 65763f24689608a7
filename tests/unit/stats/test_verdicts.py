"""Three verdicts, and the reason of each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts import Verdict as ContractVerdict
from shared.stats.comparisons.verdicts import Decision, conclude
from shared.stats.estimate import IntervalEstimate, undefined

bounds = st.floats(-1, 1)


def gap(low: float, high: float) -> IntervalEstimate:
    return IntervalEstimate((low + high) / 2, low, high, "t")


@pytest.mark.parametrize(
    ("low", "high", "p", "tolerance", "verdict"),
    [
        (0.06, 0.2, 0.001, 0.05, Decision.DISPARITY),
        (-0.2, -0.06, 0.001, 0.05, Decision.DISPARITY),
        (0.01, 0.2, 0.001, 0.0, Decision.DISPARITY),
        (0.06, 0.2, 0.06, 0.05, Decision.NOT_ENOUGH),
        (0.04, 0.2, 0.001, 0.05, Decision.NOT_ENOUGH),
        (-0.2, 0.2, 0.9, 0.05, Decision.NOT_ENOUGH),
        (-0.04, 0.04, 0.9, 0.05, Decision.NO_DISPARITY),
        (0.01, 0.04, 0.001, 0.05, Decision.NO_DISPARITY),
        (-0.05, 0.05, 0.9, 0.05, Decision.NO_DISPARITY),
        (-1e-9, 1e-9, 0.9, 0.0, Decision.NOT_ENOUGH),
    ],
)
def test_a_verdict_follows_from_interval_p_and_tolerance(
    low: float, high: float, p: float, tolerance: float, verdict: Decision
) -> None:
    found = conclude(gap(low, high), p, tolerance=tolerance, alpha=0.05)
    assert found.verdict is verdict
    assert found.reason


def test_the_undefined_is_not_enough_evidence_and_says_why() -> None:
    nothing = conclude(undefined("one unit"), None, tolerance=0.1, alpha=0.05)
    assert (nothing.verdict, nothing.reason) == (Decision.NOT_ENOUGH, "one unit")
    no_p = conclude(gap(0.2, 0.3), None, tolerance=0.1, alpha=0.05)
    assert (no_p.verdict, no_p.reason) == (Decision.NOT_ENOUGH, "there is no test of the gap")
    for low, p in ((float("nan"), 0.01), (0.2, float("nan")), (float("-inf"), 0.01)):
        found = conclude(gap(low, 0.3), p, tolerance=0.1, alpha=0.05)
        assert found.verdict is Decision.NOT_ENOUGH


def test_verdicts_have_the_names_of_the_contract() -> None:
    assert {v.name: v.value for v in Decision} == {v.name: v.value for v in ContractVerdict}


@given(bounds, bounds, st.floats(0, 1), st.floats(0, 0.5))
def test_exchanging_the_groups_changes_no_verdict(
    x: float, y: float, p: float, tolerance: float
) -> None:
    low, high = sorted((x, y))
    found = conclude(gap(low, high), p, tolerance=tolerance, alpha=0.05)
    assert found == conclude(gap(-high, -low), p, tolerance=tolerance, alpha=0.05)


@given(bounds, bounds, st.floats(0, 1), st.floats(0, 0.5))
def test_a_larger_tolerance_never_makes_a_disparity(
    x: float, y: float, p: float, tolerance: float
) -> None:
    low, high = sorted((x, y))
    wide = conclude(gap(low, high), p, tolerance=tolerance + 0.1, alpha=0.05)
    if wide.verdict is Decision.DISPARITY:
        narrow = conclude(gap(low, high), p, tolerance=tolerance, alpha=0.05)
        assert narrow.verdict is Decision.DISPARITY


@pytest.mark.parametrize(("tolerance", "alpha"), [(-0.1, 0.05), (float("nan"), 0.05), (0.1, 1.0)])
def test_mistakes_are_sentences(tolerance: float, alpha: float) -> None:
    with pytest.raises(ValueError, match=r"tolerance is|alpha is"):
        conclude(gap(0, 1), 0.5, tolerance=tolerance, alpha=alpha)
