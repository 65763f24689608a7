"""Facts about a subject that claims and caveats state: directions, intervals, sizes, strata."""

import math

from biaswatch.services.evaluator.domain.subjects import cases_of, measure_of
from biaswatch.services.evaluator.domain.writing.slots import group_keys
from biaswatch.shared.contracts import Measure, Subject
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.tables.contingency import ratio_agreement

NEITHER = "neither"
DIRECTED = frozenset(
    {"odds_ratio", "odds_ratio_conditional", "relative_risk", "risk_difference"}
    | {"odds_ratio_within", "odds_ratio_adjusted", "gap", "effect_size"}
)
"""Measures of the first group over, or minus, the second."""
SIZES = ("negligible", "small", "moderate", "large")
SIZE_FROM = (0.2, 0.5, 0.8)
"""Cohen's bounds (1988) of h for two shares and of d for two means."""
STRENGTHS = ("reversed", "weaker", "similar", "stronger")
SIMILAR_STRENGTH = (0.8, 1.25)
"""Log odds ratio within strata over the pooled one, for a similar strength."""


def shows_difference(subject: Subject) -> bool:
    """Return whether the test that decides is significant; any test where none is declared."""
    tests = [m for m in subject.measures if subject.test in (None, m.name)]
    return any(m.p_value is not None and m.p_value <= subject.alpha for m in tests)


def higher_group(subject: Subject, name: str) -> str | None:
    """Return the group with more by a measure; `neither` where they are equal."""
    measure = measure_of(subject, name)
    if measure is None or measure.value is None or name not in DIRECTED:
        return None
    keys, null = group_keys(subject), measure.no_difference
    if null is None:
        return None
    if measure.value == null:
        return NEITHER
    return keys[0] if measure.value > null else keys[1]


def contains_null(measure: Measure | None) -> bool | None:
    """Return whether the interval of a measure contains the value of no difference."""
    if measure is None or measure.no_difference is None:
        return None
    if measure.low is None or measure.high is None:
        return None
    return measure.low <= measure.no_difference <= measure.high


def size_of(subject: Subject) -> str | None:
    """Return how large the difference is: by h of two shares, or by the effect size."""
    effect = measure_of(subject, "effect_size")
    if effect and effect.value is not None:
        size = abs(effect.value)
    elif len(subject.counts) == 4 and (cases := cases_of(subject)) and min(cases):
        shares = subject.counts[0] / cases[0], subject.counts[2] / cases[1]
        size = abs(2 * math.asin(math.sqrt(shares[0])) - 2 * math.asin(math.sqrt(shares[1])))
    else:
        return None
    return SIZES[sum(size >= bound for bound in SIZE_FROM)]


def strata_of(subject: Subject) -> str | None:
    """Return what becomes of the odds ratio within strata; None without strata."""
    pooled, within = (measure_of(subject, n) for n in ("odds_ratio", "odds_ratio_within"))
    values = [m.value for m in (pooled, within) if m and m.value is not None and m.value > 0]
    if len(values) < 2 or values[0] == 1:
        return None
    ratio = math.log(values[1]) / math.log(values[0])
    if ratio < 0:
        return "reversed"
    low, high = SIMILAR_STRENGTH
    return "weaker" if ratio < low else "stronger" if ratio > high else "similar"


def agreement_of(subject: Subject) -> str | None:
    """Return whether odds ratio and relative risk agree; None where one is undefined."""
    odds, risk = (measure_of(subject, name) for name in ("odds_ratio", "relative_risk"))
    if odds is None or risk is None:
        return None
    says = ratio_agreement(*(Estimate(m.value, m.low, m.high) for m in (odds, risk))).says
    return says and says.replace(" ", "_")
