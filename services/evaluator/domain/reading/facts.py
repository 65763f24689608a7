"""Facts: every number that a subject states or implies, with its measure, role and group."""

from collections.abc import Iterator
from dataclasses import dataclass

from biaswatch.services.evaluator.domain.subjects import measure_of
from biaswatch.services.evaluator.domain.writing.slots import cases_of
from biaswatch.shared.contracts import Measure, Subject

RATIOS = frozenset(
    {"odds_ratio", "odds_ratio_conditional", "odds_ratio_within", "odds_ratio_adjusted"}
    | {"relative_risk", "impact_ratio"}
)
ANY = "any"
"""Role of numbers that fit everywhere: levels, the minimum of cases, the base of a share."""


@dataclass(frozen=True)
class Fact:
    """One number of a subject."""

    value: float
    measure: str
    """The measure, or cases, share, odds, mean, missing, asked, constant."""
    role: str = "estimate"
    """estimate, low, high, p, statistic, change, times, count, or any."""
    group: int | None = None
    """0 or 1; None for a number of both groups."""
    percent: bool = False
    """True if it is also written times 100."""


def facts_of(subject: Subject) -> list[Fact]:
    """Return the facts of a subject."""
    facts = [*_constants(subject), *_counts(subject), *_run_facts(subject)]
    for measure in subject.measures:
        if measure.value is not None:
            facts += _measure_facts(measure)
    return facts


def _constants(subject: Subject) -> Iterator[Fact]:
    for value in (subject.alpha, 1 - subject.alpha):
        yield Fact(value, "constant", ANY, percent=True)
    for value in (0.0, 1.0, 100.0, subject.cases_least):
        yield Fact(float(value), "constant", ANY)
    yield Fact(float(subject.cases), "cases", "count")


def _measure_facts(measure: Measure) -> Iterator[Fact]:
    name, value = measure.name, measure.value
    assert value is not None  # noqa: S101 - for mypy
    group = int(name[-1]) - 1 if name in {"rate_1", "rate_2", "mean_1", "mean_2"} else None
    short = {"rate": "share", "mean": "mean"}.get(name[:-2], name) if group is not None else name
    percent = short in {"share", "risk_difference", "impact_ratio"}
    bounds = [("low", measure.low), ("high", measure.high)]
    if value != measure.p_value:
        role = "estimate" if measure.p_value is None else "statistic"
        yield Fact(value, short, role, group, percent)
    for role, bound in bounds:
        if bound is not None:
            yield Fact(bound, short, role, group, percent)
    if measure.p_value is not None:
        yield Fact(measure.p_value, name, "p")
    if name in RATIOS:
        yield from _ratio_facts(name, [("estimate", value), *bounds])


def _ratio_facts(name: str, values: list[tuple[str, float | None]]) -> Iterator[Fact]:
    """Yield a ratio the other way round, and as a change in percent."""
    for role, value in values:
        if not value or value <= 0 or name == "impact_ratio":
            continue
        yield Fact(1 / value, name, "times" if role == "estimate" else role)
        if role == "estimate":
            yield from (Fact(abs(r - 1), name, "change", percent=True) for r in (value, 1 / value))


def _counts(subject: Subject) -> Iterator[Fact]:
    if len(subject.counts) != 4:
        yield from _units(subject)
        return
    a, b, c, d = subject.counts
    sizes, total = (a + b, c + d), subject.cases
    for group, (having, lacking) in enumerate(((a, b), (c, d))):
        yield from _group_facts(group, having, lacking)
        for part, whole in ((having, a + c), (lacking, b + d), (sizes[group], total)):
            if whole:
                yield Fact(part / whole, "part", "estimate", group, percent=True)
    yield from _total_facts((a + c, b + d), total)
    for first, second in ((a, c), (b, d), sizes):
        yield Fact(abs(first - second), "cases", "difference")
        if first and second:
            yield Fact(first / second, "cases", "times")
            yield Fact(second / first, "cases", "times")


def _total_facts(totals: tuple[int, int], cases: int) -> Iterator[Fact]:
    for total in totals:
        yield Fact(total, "cases", "total")
        if cases:
            yield Fact(total / cases, "share", "estimate", None, percent=True)


def _group_facts(group: int, having: int, lacking: int) -> Iterator[Fact]:
    size = having + lacking
    yield from (Fact(count, "cases", "count", group) for count in (having, lacking, size))
    if size:
        yield Fact(having / size, "share", "estimate", group, percent=True)
        yield Fact(lacking / size, "share", "estimate", group, percent=True)
    if lacking and having:
        yield Fact(having / lacking, "odds", "estimate", group)
        yield Fact(lacking / having, "odds", "estimate", group)


def _units(subject: Subject) -> Iterator[Fact]:
    for group, cases in enumerate(cases_of(subject) or ()):
        yield Fact(cases, "cases", "count", group)


def _run_facts(subject: Subject) -> Iterator[Fact]:
    if subject.tolerance is not None:
        yield Fact(subject.tolerance, "tolerance", "estimate")
    if subject.comparisons is not None:
        yield Fact(subject.comparisons, "comparisons", "count")
    for group, missing in enumerate(subject.missing):
        asked = subject.asked[group] if group < len(subject.asked) else 0
        yield Fact(missing, "missing", "count", group)
        yield Fact(asked, "asked", "count", group)
        yield Fact(asked - missing, "asked", "count", group)
        if asked:
            yield Fact(missing / asked, "missing", "estimate", group, True)
            yield Fact(1 - missing / asked, "asked", "estimate", group, True)
    yield Fact(sum(subject.missing), "missing", "total")
    yield Fact(sum(subject.asked), "asked", "total")
    one, two = (measure_of(subject, f"mean_{n}") for n in (1, 2))
    if one and two and one.value and two.value:
        yield Fact(one.value / two.value, "mean", "times")
        yield Fact(two.value / one.value, "mean", "times")
