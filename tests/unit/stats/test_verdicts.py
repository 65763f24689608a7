"""Three verdicts, and the reason of each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaswatch.shared.contracts import Verdict as ContractVerdict
from biaswatch.shared.stats.comparisons.tolerance_tests import conclude
from biaswatch.shared.stats.estimate import Estimate, Verdict, undefined

GAP = Estimate(0.1, 0.05, 0.15, "bounded means")


@pytest.mark.parametrize(
    ("p_disparity", "p_equivalence", "tolerance", "verdict"),
    [
        (0.001, 0.9, 0.05, Verdict.DISPARITY),
        (0.05, None, 0.0, Verdict.DISPARITY),
        (0.06, 0.9, 0.05, Verdict.INCONCLUSIVE),
        (0.9, 0.9, 0.05, Verdict.INCONCLUSIVE),
        (0.9, 0.01, 0.05, Verdict.NO_DISPARITY),
        (0.9, 0.05, 0.05, Verdict.NO_DISPARITY),
        (0.9, None, 0.0, Verdict.INCONCLUSIVE),
    ],
)
def test_a_verdict_follows_from_both_tests(
    p_disparity: float, p_equivalence: float | None, tolerance: float, verdict: Verdict
) -> None:
    conclusion = conclude(GAP, p_disparity, p_equivalence, tolerance=tolerance, alpha=0.05)
    assert conclusion.verdict is verdict
    assert conclusion.reason


def test_the_undefined_is_inconclusive_and_says_why() -> None:
    empty = conclude(undefined("one unit"), None, None, tolerance=0.1, alpha=0.05)
    assert (empty.verdict, empty.reason) == (Verdict.INCONCLUSIVE, "one unit")
    no_p = conclude(GAP, None, None, tolerance=0.1, alpha=0.05)
    assert (no_p.verdict, no_p.reason) == (Verdict.INCONCLUSIVE, "there is no test of the gap")
    no_number = conclude(GAP, float("nan"), None, tolerance=0.1, alpha=0.05)
    assert no_number.verdict is Verdict.INCONCLUSIVE


def test_verdicts_have_the_names_of_the_contract() -> None:
    assert {v.name: v.value for v in Verdict} == {v.name: v.value for v in ContractVerdict}


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 0.5))
def test_a_stricter_level_never_makes_a_verdict(p: float, q: float, alpha: float) -> None:
    strict = conclude(GAP, p, q, tolerance=0.1, alpha=alpha / 2)
    if strict.verdict is not Verdict.INCONCLUSIVE:
        assert conclude(GAP, p, q, tolerance=0.1, alpha=alpha).verdict is not Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("tolerance", "alpha"), [(-0.1, 0.05), (float("nan"), 0.05), (0.1, 1.0)])
def test_mistakes_are_sentences(tolerance: float, alpha: float) -> None:
    with pytest.raises(ValueError, match=r"tolerance is|alpha is"):
        conclude(GAP, 0.5, None, tolerance=tolerance, alpha=alpha)
