"""One row of a calibration: how often and how late monitors find a planted effect."""

from collections.abc import Sequence
from math import ceil, sqrt
from statistics import mean

from shared.contracts import Evidence, MonitorPlan
from shared.stats.anytime.pairs import PairHistogram
from shared.stats.anytime.planning import fixed_size

Row = dict[str, float | int | None]
POWER = 0.8


def effect_row(
    effect: float, alarmed_at: Sequence[int | None], evidence: Sequence[Evidence], plan: MonitorPlan
) -> Row:
    """Return the row of one effect.

    Parameters
    ----------
    alarmed_at
        For each monitor the units it had asked when it alarmed; None where it never did.
    evidence
        The last of each monitor, from which the spread of a set's gap is taken.
    """
    share = sum(units is not None for units in alarmed_at) / len(alarmed_at)
    by_80 = _reached(alarmed_at, POWER)
    gaps = [each.gap.value for each in evidence if each.gap.value is not None]
    fixed = _fixed(evidence, plan) if effect else None
    return {
        "effect": effect,
        "monitors": len(alarmed_at),
        "alarmed": round(share, 3),
        "standard_error": round(sqrt(share * (1 - share) / len(alarmed_at)), 3),
        "gap_found": round(mean(gaps), 3) if gaps else None,
        "median_units": _reached(alarmed_at, 0.5),
        "units_of_80_percent": by_80,
        "looking_once": fixed,
        "ratio": round(by_80 / fixed, 2) if by_80 and fixed else None,
    }


def _reached(alarmed_at: Sequence[int | None], share: float) -> int | None:
    """Return the units by which this share of all monitors had alarmed; None where it never had."""
    alarmed = sorted(units for units in alarmed_at if units is not None)
    place = ceil(share * len(alarmed_at)) - 1
    return alarmed[place] if place < len(alarmed) else None


def _fixed(evidence: Sequence[Evidence], plan: MonitorPlan) -> int | None:
    """Return the units of the test that looks once, at 80 % power, and knows effect and spread."""
    pairs = [PairHistogram(each.counts["counts"], each.counts["absent"][0]) for each in evidence]
    whole = sum(pairs[1:], pairs[0])
    if not whole.units or not whole.estimate:
        return None
    sd = whole.standard_error * sqrt(whole.units)
    alpha = plan.alpha / 2 / len(plan.watched)
    return fixed_size(whole.estimate, sd, alpha=alpha, power=POWER, tolerance=0.0)
