"""Facts: every number that a subject states or implies, with its statistic, part and group."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from biaswatch.services.evaluator.domain.reading.numbers import Number, Unit
from biaswatch.services.evaluator.domain.subjects import case_counts
from biaswatch.shared.contracts import Measure, Subject

ODDS_RATIOS = frozenset(
    {"odds_ratio", "odds_ratio_conditional", "odds_ratio_within", "odds_ratio_adjusted"}
)
RISKS = frozenset({"relative_risk", "impact_ratio"})
DIFFERENCES = frozenset({"risk_difference", "gap"})
TESTS = frozenset({"chi_square", "cmh", "fisher", "boschloo", "gap_test"})
SHARES = frozenset({"share", "lacking_share", "part", "missing_share", "answered_share"})
PERCENTAGES = SHARES | {"risk_difference", "impact_ratio", "change"}
"""Statistics that are also written times 100."""
_OF_GROUPS = {f"{name}_{n}": (statistic, n - 1) for n in (1, 2)
              for name, statistic in (("rate", "share"), ("mean", "mean"))}  # fmt: skip
MAX_LEVEL = 0.1
"""Largest level with which a p-value is compared."""
OTHER_END = {"low": "high", "high": "low"}


@dataclass(frozen=True)
class Fact:
    """One number of a subject."""

    value: float
    statistic: str
    """A measure, or what is counted: having and lacking the outcome, size, missing, asked, ..."""
    part: str = "estimate"
    """estimate, low, high or p; of a change or factor, the measure that changes."""
    group: int | None = None
    """0 or 1; None for a number of both groups."""
    inverse: bool = False
    """True for a ratio of the second group over the first."""

    def other_end(self, value: float) -> "Fact":
        """Return the other end of its interval; an estimate stays one."""
        return replace(self, value=value, part=OTHER_END.get(self.part, self.part))


def is_written(number: Number, fact: Fact) -> bool:
    """Tell whether a fact may be written as a number."""
    unit, percent = number.unit, fact.statistic in PERCENTAGES
    if number.side and fact.part == "p":
        level = number.high if number.side < 0 else number.low
        usual = level <= MAX_LEVEL and f"{level:.0e}"[0] in "15"
        return usual and number.side * (fact.value - level) > 0
    if fact.part in {"low", "high"} and fact.value < 0 and not number.signed:
        return False  # as a size it is the other end
    if unit is Unit.PERCENT:
        return percent and number.equals(100 * fact.value)
    if unit is Unit.POINTS:
        whole = {"risk_difference": 100, "gap": 1}.get(fact.statistic)
        return whole is not None and number.equals(whole * fact.value)
    if unit is Unit.TIMES:
        return number.equals(fact.value)
    return number.equals(fact.value) or (percent and number.equals(100 * fact.value))


@lru_cache(maxsize=16)
def facts_of(subject: Subject) -> tuple[Fact, ...]:
    """Return the facts of a subject."""
    facts = [*_cases(subject), *_answers(subject)]
    for measure in subject.measures:
        facts += _measured(measure)
    values = {measure.name: measure.value for measure in subject.measures}
    facts += _ratio("mean", values.get("mean_1"), values.get("mean_2"))
    if subject.tolerance:
        facts.append(Fact(subject.tolerance, "tolerance"))
        facts += _ratio("tolerance", values.get("gap"), subject.tolerance)
    return tuple(facts)


def _ratio(name: str, one: float | None, two: float | None) -> Iterator[Fact]:
    """Yield two values over each other, as factors and as changes."""
    for ratio in (one / two, two / one) if one and two else ():
        yield Fact(abs(ratio), "factor", name)
        yield Fact(abs(ratio) - 1, "change", name)


def _measured(measure: Measure) -> Iterator[Fact]:
    statistic, group = _OF_GROUPS.get(measure.name, (measure.name, None))
    if measure.p_value is not None:
        yield Fact(measure.p_value, statistic, "p")
    if measure.value is None or measure.value == measure.p_value:
        return
    if statistic in ODDS_RATIOS | RISKS:
        yield from _ratio(statistic, measure.value, 1)
    for part, value in (("estimate", measure.value), ("low", measure.low), ("high", measure.high)):
        if value is not None:
            fact = Fact(value, statistic, part, group)
            yield fact
            yield from _turned(fact.other_end(value), measure)


def _turned(fact: Fact, measure: Measure) -> Iterator[Fact]:
    """Yield an inverse ratio, the size of a negative end, or the complement of a share."""
    if fact.statistic in ODDS_RATIOS | {"relative_risk"} and fact.value > 0:
        yield replace(fact, value=1 / fact.value, inverse=True)
    if fact.part != "estimate" and measure.high is not None and measure.high < 0:
        yield replace(fact, value=-fact.value)
    if fact.statistic == "share":
        yield replace(fact, value=1 - fact.value, statistic="lacking_share")


def _cases(subject: Subject) -> Iterator[Fact]:
    """Yield the counts of cases, and the shares, odds and differences that they imply."""
    yield Fact(subject.cases, "size")
    sizes = case_counts(subject) or ()
    yield from (Fact(size, "size", group=group) for group, size in enumerate(sizes))
    if len(subject.counts) != 4 or not subject.cases:
        return
    for name, counts in (("having", subject.counts[::2]), ("lacking", subject.counts[1::2])):
        column = sum(counts)
        share = "share" if name == "having" else "lacking_share"
        yield from (Fact(column, name), Fact(column / subject.cases, share))
        yield Fact(abs(counts[0] - counts[1]), "difference")
        yield from _ratio("count", *counts)
        for group, count in enumerate(counts):
            yield Fact(count, name, group=group)
            yield Fact(sizes[group] * column / subject.cases, "expected", group=group)
            yield Fact(count / max(column, 1), "part", name, group)
    for group, size in enumerate(sizes):
        having = subject.counts[2 * group]
        yield from [Fact(having / (size - having), "odds", group=group)] if size > having else []


def _answers(subject: Subject) -> Iterator[Fact]:
    """Yield the answers of a run: requested, missing, and the rest."""
    if subject.comparisons is not None:
        yield Fact(subject.comparisons, "comparisons")
    pairs = list(zip((0, 1), subject.missing, subject.asked, strict=False))
    for group, missing, requested in (*pairs, (None, sum(subject.missing), sum(subject.asked))):
        if requested:
            yield Fact(requested, "asked", group=group)
            for name, count in (("missing", missing), ("answered", requested - missing)):
                yield Fact(count, name, group=group)
                yield Fact(count / requested, f"{name}_share", group=group)
