"""The change of a gap between two runs whose prompts differ: two independent gaps."""

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples, SampleParts
from biaswatch.shared.stats.comparisons.confidence_curve import gap_curve
from biaswatch.shared.stats.comparisons.gap_test import (
    NO_SPREAD,
    ONE_UNIT,
    GapResult,
    gap_result,
    mean_gap,
    sample_curve,
)
from biaswatch.shared.stats.comparisons.tolerance_tests import curve_tails, p_values_of
from biaswatch.shared.stats.estimate import undefined

METHOD = "two gaps, joined by their curves"


def gap_change(
    after: ComparedSamples,
    before: ComparedSamples,
    *,
    alpha: float,
    tolerance: float,
    family: int = 1,
) -> GapResult:
    """Return the gap after less the gap before, with its tests.

    Each gap has its own confidence curve; both are joined as the curves of two means are. Prompts
    that both runs asked make the two gaps alike in their errors, which makes the interval too wide,
    not too narrow. Parameters are `compare_samples`'s.
    """
    values = [mean_gap(each) for each in (after, before)]
    value = None if values[0] is None or values[1] is None else values[0] - values[1]
    if value is None or not (after.testable and before.testable):
        nothing = undefined(ONE_UNIT, value=value, method=METHOD)
        return GapResult(nothing, nothing, None, None)
    regular = all(SampleParts.of(each).all_regular for each in (after, before))
    if after.bounds is None and not regular:
        nothing = undefined(NO_SPREAD, value=value, method=METHOD)
        return GapResult(nothing, nothing, 1.0, 1.0 if tolerance else None)
    curve = gap_curve(sample_curve(after), sample_curve(before))
    p_values = p_values_of(curve_tails(curve), tolerance)
    return gap_result(
        curve, value, METHOD, p_values, alpha=alpha, tolerance=tolerance, family=family
    )
