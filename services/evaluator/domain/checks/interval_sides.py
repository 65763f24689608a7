"""Where an interval lies, as a sentence says: which side of no difference, or on both."""

import re
from collections.abc import Iterator
from dataclasses import replace

from biaswatch.services.evaluator.domain.checks.interval_claims import (
    ClaimedPart,
    ClaimedPosition,
    IntervalClaim,
    claimed_positions,
)
from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.services.evaluator.domain.subjects import measure_of
from biaswatch.shared.contracts import Measure, Subject

_SEVERAL = re.compile(
    r"\b(?:both|each|two|every|all)\s+(?:of\s+the\s+)?(?:two\s+)?(?:the\s+)?(?:confidence\s+)?(?:intervals?|ratios?|measures?)\b"
    r"|\bintervals\b|\beach\s+(?:one|of\s+them)\b|\bneither\s+interval\b"
)
_FIRST_IS_REFERENCE = re.compile(
    r"<g0> as (?:the |a )?(?:reference|baseline|denominator|standard)\b"
)
"""Says that ratios are of the second group over the first."""
_TURNED = {IntervalClaim.ABOVE: IntervalClaim.BELOW, IntervalClaim.BELOW: IntervalClaim.ABOVE}


def interval_side_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where an interval or an estimate lies elsewhere than is said."""
    for place in claimed_positions(wording):
        for measure in _meant(place, wording, subject):
            if _holds(place, measure) is False:
                yield "interval", _said(place, measure)
                return


def speaks_of_sides(wording: Wording) -> bool:
    """Tell whether a sentence is read as saying where an interval or an estimate lies."""
    return any(claimed_positions(wording))


def _holds(place: ClaimedPosition, measure: Measure) -> bool | None:
    """Return whether what is said of a measure is so; None where it has no such number."""
    if _FIRST_IS_REFERENCE.search(place.before):
        return None if place.claim not in _TURNED else _turned_holds(place, measure)
    return _verdict_holds(place, measure)


def _turned_holds(place: ClaimedPosition, measure: Measure) -> bool | None:
    """Read a ratio of the second group over the first: its sides change places."""
    return _verdict_holds(replace(place, claim=_TURNED[place.claim]), measure)


def _verdict_holds(place: ClaimedPosition, measure: Measure) -> bool | None:
    contains = includes_no_difference(measure)
    if place.claim in {IntervalClaim.CONTAINS, IntervalClaim.EXCLUDES}:
        claims_inside = (place.claim is IntervalClaim.CONTAINS) is not place.denied
        return None if contains is None else contains is claims_inside
    neutral, ends = measure.no_difference, _ends(place.part, measure)
    if neutral is None or ends[0] is None or ends[1] is None:
        return None
    above = place.claim is IntervalClaim.ABOVE
    true = ends[0] > neutral if above else ends[1] < neutral
    return true is not place.denied


def _ends(part: ClaimedPart, measure: Measure) -> tuple[float | None, float | None]:
    return {
        ClaimedPart.INTERVAL: (measure.low, measure.high),
        ClaimedPart.LOWER: (measure.low, measure.low),
        ClaimedPart.UPPER: (measure.high, measure.high),
        ClaimedPart.ESTIMATE: (measure.value, measure.value),
    }[part]


def _said(place: ClaimedPosition, measure: Measure) -> str:
    if place.claim in {IntervalClaim.CONTAINS, IntervalClaim.EXCLUDES}:
        does = "contains" if includes_no_difference(measure) else "does not contain"
        return f"The interval of the {measure.label} {does} the value of no difference."
    return f"The {place.part.value} of the {measure.label} lies elsewhere than is said."


def _meant(place: ClaimedPosition, wording: Wording, subject: Subject) -> list[Measure]:
    """Return the measures with intervals that a clause speaks of."""
    ratios = [m for m in subject.measures if m.no_difference is not None and m.low is not None]
    if _SEVERAL.search(place.before):
        several = [m for m in ratios if m.name in place.named]
        return several if len(several) > 1 else [m for m in ratios if m.no_difference == 1][:2]
    name = place.named[-1] if place.named else None
    if name is None:
        name = place.named_after[0] if place.named_after else wording.carried
    measure = measure_of(subject, name) if name else None
    if measure is None or measure.no_difference is None:
        return ratios[:1] if name is None and len(ratios) == 1 else []
    return [measure]


def includes_no_difference(measure: Measure) -> bool | None:
    """Tell whether the interval of a measure contains its value of no difference; None without one."""
    if measure.low is None or measure.high is None or measure.no_difference is None:
        return None
    return measure.low <= measure.no_difference <= measure.high
