"""A comparison and what stands beside its evidence in words: units selected, users matched."""

from collections.abc import Collection

from shared.contracts import Comparison, Estimate, Evidence
from shared.contracts.comparison import MISSING
from shared.formatting import number, number_name


def comparison_title(comparison: Comparison, watched: Collection[tuple[str, str]] = ()) -> str:
    """Return what is compared, for people: the number, the groups, the grouping.

    `watched` are the extractors and features of the whole monitor.
    """
    about, pair = comparison.watched, comparison.pair
    if about.feature == MISSING:
        said = f"no {about.extractor.replace('_', ' ')} measured"
    else:
        said = number_name(about.extractor, about.feature, watched)
        if about.method.of_selections:
            said = f"selected by {said}, in log odds"
    return f"{said}: {pair.a} less {pair.b or 'all others'}, by {pair.dimension.replace('_', ' ')}"


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
