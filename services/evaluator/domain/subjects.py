"""Statistics of a subject: directions, intervals, sizes, strata; and their text.

Reports are checked against these very digits, so numbers have fixed decimals rather than those of
`biaswatch.shared.formatting`.
"""

import math
import re
from collections.abc import Callable, Iterator

from biaswatch.shared.contracts import Measure, Subject
from biaswatch.shared.parsing.texts import one_line, quoted_label
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.tables.contingency import ratio_agreement

TESTS = frozenset({"chi_square", "cmh"})
"""Measures that are test statistics, written to four decimals like p-values."""
SMALLEST_P = 0.0001
_KEY = re.compile(r"[^a-z0-9]+")
MAX_KEY_CHARS = 40
NEITHER = "neither"
UNDIRECTED = frozenset({"impact_ratio"})
"""Measures of the smaller value over the larger."""
SIZES = ("negligible", "small", "moderate", "large")
SIZE_FROM = (0.2, 0.5, 0.8)
"""Cohen's bounds (1988) of h for two shares and of d for two means."""
STRENGTHS = ("reversed", "weaker", "similar", "stronger")
SIMILAR_STRENGTH = (0.8, 1.25)
"""Log odds ratio within strata over the pooled one, for a similar strength."""


def measure_of(subject: Subject, name: str) -> Measure | None:
    """Return a measure that has a number."""
    return next((m for m in subject.measures if m.name == name and m.value is not None), None)


def case_counts(subject: Subject) -> tuple[int, int] | None:
    """Return the number of cases of each group; None if unknown."""
    if len(subject.counts) == 4:
        a, b, c, d = subject.counts
        return a + b, c + d
    return (subject.units[0], subject.units[1]) if len(subject.units) == 2 else None


def group_keys(subject: Subject) -> tuple[str, str]:
    """Return the names of both groups in slots and claims: letters, digits and underscores."""
    keys = [_KEY.sub("_", group.casefold()).strip("_")[:MAX_KEY_CHARS] for group in subject.groups]
    if not all(keys) or keys[0] == keys[1]:
        return "first", "second"
    return keys[0], keys[1]


def shows_difference(subject: Subject) -> bool:
    """Return whether the test that decides is significant; any test where none is declared."""
    tests = [m for m in subject.measures if subject.test in (None, m.name)]
    return any(m.p_value is not None and m.p_value <= subject.alpha for m in tests)


def higher_group(subject: Subject, name: str) -> str | None:
    """Return the group with more by a measure; `neither` where they are equal."""
    measure, (one, two) = measure_of(subject, name), group_keys(subject)
    if measure is None or measure.value is None or name in UNDIRECTED:
        return None
    if measure.no_difference is None:
        return None
    difference = measure.value - measure.no_difference
    return one if difference > 0 else two if difference < 0 else NEITHER


def size_of(subject: Subject) -> str | None:
    """Return how large the difference is: by h of two shares, or by the effect size."""
    effect, cases = measure_of(subject, "effect_size"), case_counts(subject)
    size = effect.value if effect else None
    if size is None and len(subject.counts) == 4 and cases and min(cases):
        shares = subject.counts[0] / cases[0], subject.counts[2] / cases[1]
        size = 2 * math.asin(math.sqrt(shares[0])) - 2 * math.asin(math.sqrt(shares[1]))
    return None if size is None else SIZES[sum(abs(size) >= bound for bound in SIZE_FROM)]


def strata_of(subject: Subject) -> str | None:
    """Return how the odds ratio changes within strata; None without strata."""
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


def decimal(value: float) -> str:
    """Write an estimate to three decimals; a tiny one to three figures."""
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.2e}"


def p_text(p_value: float) -> str:
    """Write a p-value to four decimals, or as below the smallest."""
    return f"< {SMALLEST_P}" if p_value < SMALLEST_P else f"= {p_value:.4f}"


def level_of(subject: Subject) -> str:
    """Write the level of confidence intervals."""
    return f"{100 * (1 - subject.alpha):g}%"


def interval_of(measure: Measure, write: Callable[[float], str] = decimal) -> str | None:
    """Write a measure's interval; None without one."""
    if measure.low is None or measure.high is None:
        return None
    return f"({write(measure.low)}, {write(measure.high)})"


def measure_line(measure: Measure, subject: Subject) -> str:
    """Write one measure on one line."""
    label = one_line(measure.label)
    if measure.value is None:
        return f"{label}: not defined ({one_line(measure.reason or 'reason unknown')})"
    if measure.name in TESTS:
        text = f"{label}: statistic = {measure.value:.4f}"
    elif measure.value == measure.p_value:
        text = label
    else:
        text = f"{label}: {decimal(measure.value)}"
    if interval := interval_of(measure):
        text += f", {level_of(subject)} confidence interval {interval}"
    if measure.no_difference is not None:
        text += f"; {measure.no_difference:g} would mean no difference"
    if measure.p_value is not None:
        text += f", p-value {p_text(measure.p_value)} ({significance(measure.p_value, subject)})"
    return text


def significance(p_value: float, subject: Subject) -> str:
    """State whether a p-value is below the level."""
    word = "significant" if p_value <= subject.alpha else "not significant"
    return f"{word} at the level {subject.alpha:g}"


def count_lines(subject: Subject) -> Iterator[str]:
    """Write the number of cases, and the cells of a 2x2 table."""
    yield f"Cases in all: {subject.cases}"
    yield f"Fewest cases of a group for a finding: {subject.cases_least}"
    if len(subject.counts) == 4:
        a, b, c, d = subject.counts
        one, two = map(quoted_label, subject.groups)
        value = quoted_label(subject.value)
        yield f"{one} with {value}: {a}; without: {b}"
        yield f"{two} with {value}: {c}; without: {d}"
