"""Statistics of a subject as text.

Reports are checked against these very digits, so numbers have fixed decimals rather than those of
`biaswatch.shared.formatting`.
"""

from collections.abc import Callable, Iterator

from biaswatch.shared.contracts import Measure, Subject
from biaswatch.shared.parsing.texts import one_line, quoted_label

TESTS = frozenset({"chi_square", "cmh"})
"""Measures that are test statistics, written to four decimals like p-values."""
SMALLEST_P = 0.0001


def measure_of(subject: Subject, name: str) -> Measure | None:
    """Return a measure that has a number."""
    return next((m for m in subject.measures if m.name == name and m.value is not None), None)


def cases_of(subject: Subject) -> tuple[int, int] | None:
    """Return the number of cases of each group; None if unknown."""
    if len(subject.counts) == 4:
        a, b, c, d = subject.counts
        return a + b, c + d
    return (subject.units[0], subject.units[1]) if len(subject.units) == 2 else None


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
