"""Facts: every number that a subject states or implies, with its measure, role and group."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from biaswatch.services.evaluator.domain.subjects import cases_of, measure_of
from biaswatch.shared.contracts import Measure, Subject

RATIOS = frozenset(
    {"odds_ratio", "odds_ratio_conditional", "odds_ratio_within", "odds_ratio_adjusted"}
    | {"relative_risk", "impact_ratio"}
)
DIFFERENCES = frozenset({"risk_difference", "gap"})


@dataclass(frozen=True)
class Fact:
    """One number of a subject."""

    value: float
    measure: str
    """The measure, or cases, share, part, odds, mean, missing, asked, tolerance, comparisons.

    `lacking` counts the cases without the outcome.
    """
    role: str = "estimate"
    """estimate, low, high, p, times, change, count, difference or excess."""
    group: int | None = None
    """0 or 1; None for a number of both groups."""
    percent: bool = False
    """True if it is also written times 100."""


def facts_of(subject: Subject) -> list[Fact]:
    """Return the facts of a subject."""
    facts = [*_counts(subject), *_run_facts(subject)]
    for measure in subject.measures:
        if measure.value is not None:
            facts += _measure_facts(measure, measure.value)
    return list(dict.fromkeys(facts))


def pairs_of(subject: Subject) -> set[tuple[float, float, int | None]]:
    """Return part, whole and group of counts that are written as `7 of 12`."""
    pairs: list[tuple[float, float, int | None]] = []
    if len(subject.counts) == 4:
        a, b, c, d = subject.counts
        for group, row in enumerate(((a, b), (c, d))):
            for count, column in zip(row, (a + c, b + d), strict=True):
                pairs += [(count, sum(row), group), (count, column, group)]
            pairs.append((sum(row), subject.cases, group))
        pairs += [(column, subject.cases, None) for column in (a + c, b + d)]
    for group, (missing, asked) in enumerate(zip(subject.missing, subject.asked, strict=False)):
        pairs += [(missing, asked, group), (asked - missing, asked, group)]
    if subject.asked:
        missing, asked = sum(subject.missing), sum(subject.asked)
        pairs += [(missing, asked, None), (asked - missing, asked, None)]
    pairs += [(count, subject.cases, group) for group, count in enumerate(cases_of(subject) or ())]
    return set(pairs)


def _measure_facts(measure: Measure, value: float) -> Iterator[Fact]:
    name, group = measure.name, None
    if name in {"rate_1", "rate_2", "mean_1", "mean_2"}:
        group = int(name[-1]) - 1
        name = {"rate": "share", "mean": "mean"}[name[:-2]]
    percent = name in {"share", "risk_difference", "impact_ratio"}
    values = [("estimate", value), ("low", measure.low), ("high", measure.high)]
    if measure.p_value is not None:
        yield Fact(measure.p_value, name, "p")
    for role, number in values:
        if number is None or (number == measure.p_value and role == "estimate"):
            continue
        yield Fact(number, name, role, group, percent)
        if name in RATIOS and number > 0:
            yield Fact(1 / number, name, "times" if role == "estimate" else role)
            for ratio in (number, 1 / number):
                yield Fact(abs(ratio - 1), name, "change", None, True)


def _counts(subject: Subject) -> Iterator[Fact]:
    yield Fact(float(subject.cases), "cases", "count")
    yield Fact(float(subject.cases_least), "minimum", "count")
    for group, cases in enumerate(cases_of(subject) or ()):
        yield Fact(cases, "cases", "count", group)
    if len(subject.counts) != 4:
        return
    a, b, c, d = subject.counts
    rows, columns = ((a, b), (c, d)), (a + c, b + d)
    for group, row in enumerate(rows):
        yield from _group_facts(group, row, columns, subject.cases)
    for kind, column in zip(("cases", "lacking"), columns, strict=True):
        yield Fact(column, kind, "count")
        yield from (Fact(share, "share", "estimate", None, True) for share in
                    _shares([(column, subject.cases)]))  # fmt: skip
    yield from _excess(subject, (a + b, c + d))
    for first, second in ((a, c), (b, d), (a + b, c + d), columns):
        yield Fact(abs(first - second), "cases", "difference")
        for one, other in ((first, second), (second, first)):
            if other:
                yield Fact(one / other, "cases", "times")
                yield Fact(abs(one / other - 1), "cases", "change", None, True)


def _group_facts(
    group: int, row: tuple[int, int], columns: tuple[int, int], cases: int
) -> Iterator[Fact]:
    """Yield counts, shares, odds and expected counts of a group."""
    size = sum(row)
    yield Fact(size, "cases", "count", group)
    for kind, count, column in zip(("cases", "lacking"), row, columns, strict=True):
        yield Fact(count, kind, "count", group)
        for share in _shares([(count, size)]):
            yield Fact(share, "share", "estimate", group, True)
        for share in _shares([(count, column), (size, cases), (count, cases)]):
            yield Fact(share, "part", "estimate", group, True)
        if size != count:
            yield Fact(count / (size - count), "odds", "estimate", group)
        if cases:
            yield Fact(size * column / cases, "expected", "difference", group)
            yield Fact(abs(count - size * column / cases), "expected", "difference")
        if size != cases:  # with the share of the other group
            hypothetical = size * (column - count) / (cases - size)
            yield Fact(hypothetical, "expected", "difference", group)
            yield Fact(abs(count - hypothetical), "expected", "difference")


def _excess(subject: Subject, sizes: tuple[int, int]) -> Iterator[Fact]:
    """Yield how many cases more a difference of shares means, by its estimate and bounds."""
    difference = measure_of(subject, "risk_difference")
    bounds = (difference.low, difference.high) if difference else ()
    estimates = (difference.value,) if difference else ()
    for role, values in (("difference", estimates), ("excess", bounds)):
        for share, cases in product(values, (*sizes, subject.cases)):
            if share is not None:
                yield Fact(abs(share) * cases, "expected", role)


def _shares(parts: Iterable[tuple[int, int]]) -> Iterator[float]:
    yield from (part / whole for part, whole in parts if whole)


def _run_facts(subject: Subject) -> Iterator[Fact]:
    if subject.tolerance is not None:
        yield Fact(subject.tolerance, "tolerance")
    if subject.comparisons is not None:
        yield Fact(subject.comparisons, "comparisons", "count")
    groups = list(zip(subject.missing, subject.asked, strict=False))
    totals = [(sum(subject.missing), sum(subject.asked), None)] if groups else []
    for missing, asked, group in [*((*pair, n) for n, pair in enumerate(groups)), *totals]:
        yield Fact(missing, "missing", "count", group)
        yield from (Fact(count, "asked", "count", group) for count in (asked, asked - missing))
        if asked:
            for share in (missing / asked, 1 - missing / asked):
                yield Fact(share, "missing", "estimate", group, True)
    means = [measure_of(subject, f"mean_{n}") for n in (1, 2)]
    values = [mean.value for mean in means if mean and mean.value]
    if len(values) == 2:
        for first, second in (values, values[::-1]):
            yield Fact(first / second, "mean", "times")
            yield Fact(abs(first / second - 1), "mean", "change", None, True)
