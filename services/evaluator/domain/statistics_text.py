"""The statistics of a subject as prompts state them: to fixed decimals, not as pages show them.

Reports are checked against these very digits, so numbers do not follow `shared.formatting`.
"""

from collections.abc import Iterator

from shared.contracts import Measure, Subject

TESTS = frozenset({"chi_square"})
"""Measures that are a test's statistic: written to four decimals, like p-values."""
SMALLEST_P = 0.0001


def measure_of(subject: Subject, name: str) -> Measure | None:
    """Return a measure that has a number."""
    return next((m for m in subject.measures if m.name == name and m.value is not None), None)


def decimal(value: float) -> str:
    """Write an estimate to three decimals; a tiny one to three figures."""
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.2e}"


def p_text(p_value: float) -> str:
    """Write a p-value to four decimals; one that would read as zero says how small it is."""
    return f"< {SMALLEST_P}" if p_value < SMALLEST_P else f"= {p_value:.4f}"


def level_of(subject: Subject) -> str:
    """Write what intervals cover."""
    return f"{100 * (1 - subject.alpha):g}%"


def interval_of(measure: Measure) -> str | None:
    """Write a measure's interval, where it has one."""
    if measure.low is None or measure.high is None:
        return None
    return f"({decimal(measure.low)}, {decimal(measure.high)})"


def measure_line(measure: Measure, subject: Subject) -> str:
    """Write one measure on one line."""
    if measure.value is None:
        return f"{measure.label}: not defined ({measure.reason or 'no reason is known'})"
    if measure.name in TESTS:
        said = f"{measure.label}: statistic = {measure.value:.4f}"
    else:
        said = f"{measure.label}: {decimal(measure.value)}"
    if interval := interval_of(measure):
        said += f", {level_of(subject)} confidence interval {interval}"
    if measure.no_difference is not None:
        said += f"; {measure.no_difference:g} would mean no difference"
    if measure.p_value is not None:
        said += f", p-value {p_text(measure.p_value)} ({significance(measure.p_value, subject)})"
    return said


def significance(p_value: float, subject: Subject) -> str:
    """Say whether a p-value is below the level."""
    found = "significant" if p_value < subject.alpha else "not significant"
    return f"{found} at the level {subject.alpha:g}"


def count_lines(subject: Subject) -> Iterator[str]:
    """Write how many cases there are, and the four cells where there are four."""
    yield f"Cases in all: {subject.cases}"
    yield f"Fewest cases of a group for a finding: {subject.cases_least}"
    if len(subject.counts) == 4:
        a, b, c, d = subject.counts
        one, two = subject.groups
        yield f"{one} with {subject.value}: {a}; without: {b}"
        yield f"{two} with {subject.value}: {c}; without: {d}"


def statistics_text(subject: Subject) -> str:
    """Write all of it, a statistic on each line."""
    lines = [measure_line(measure, subject) for measure in subject.measures]
    lines += count_lines(subject)
    lines += [f"Note: {note}" for note in subject.notes]
    return "\n".join(f"- {line}" for line in lines)
