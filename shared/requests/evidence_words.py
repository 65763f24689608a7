"""What stands beside a comparison's evidence in words: units selected, users matched."""

from biaswatch.shared.contracts import Estimate, Evidence
from biaswatch.shared.formatting import number


def selection_words(evidence: Evidence) -> str | None:
    """Return what the four-fifths rule looks at: units, rates, and their ratio."""
    ratio, counted, pair = evidence.impact_ratio, evidence.selection_rates, evidence.comparison.pair
    if ratio is None or counted is None:
        return None
    first = _selected(pair.a, counted.first_selected, counted.first_units)
    second = _selected(pair.b or "the others", counted.second_selected, counted.second_units)
    return f"{first}; {second}; {_ratio_words(ratio)}"


def adjustment_words(evidence: Evidence) -> str | None:
    """Return whom the gap of a comparison of traffic is about, and the gap between all users."""
    if evidence.users is None or evidence.unadjusted is None:
        return None
    gap = evidence.unadjusted
    ends = f" ({number(gap.low)} to {number(gap.high)})" if gap.low is not None else ""
    told = f"{number(gap.value)}{ends}" if gap.value is not None else f"not defined: {gap.reason}"
    return (
        f"{evidence.users.in_words}. Unadjusted, between all users of all moments and strata, the"
        f" gap is {told}; that is no evidence"
    )


def _selected(group: str, selected: int, units: int) -> str:
    if not units:
        return f"{group}: no unit has an answer"
    return f"{group}: {selected} of {units} units selected ({number(100 * selected / units)} %)"


def _ratio_words(ratio: Estimate) -> str:
    if ratio.value is None:
        return f"no ratio: {ratio.reason}"
    ends = f"at least {number(ratio.low)}"
    if ratio.high is not None:
        ends = f"{number(ratio.low)} to {number(ratio.high)}"
    return f"ratio {number(ratio.value)} ({ends})"
