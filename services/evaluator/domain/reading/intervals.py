"""Pairs of bounds and single values of a sentence against the facts of a subject."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from biaswatch.services.evaluator.domain.reading import vocabulary
from biaswatch.services.evaluator.domain.reading.facts import DIFFERENCES, RATIOS, Fact
from biaswatch.services.evaluator.domain.reading.numbers import Unit, WrittenNumber
from biaswatch.services.evaluator.domain.reading.words import Words

NUMBER, PLACE, OPEN = "number", "place", "open"
"""Faults: a number disagrees with its statistic, or is another one; and a number for readers."""
BOUNDS = frozenset({"low", "high"})
Interval = tuple[str, int | None]
Pair = tuple[WrittenNumber, WrittenNumber]


def states(number: WrittenNumber, fact: Fact) -> bool:
    """Tell whether a number has the value of a fact in its unit."""
    if number.unit is Unit.POINTS and fact.measure == "gap" and number.equals(fact.value):
        return True
    if number.unit in {Unit.PERCENT, Unit.POINTS}:
        return fact.percent and number.equals(100 * fact.value)
    per_cent = fact.percent and number.value > 1 and number.equals(100 * fact.value)
    return per_cent or number.equals(fact.value)


def verdict(
    number: WrittenNumber,
    named: Iterable[Fact],
    known: Iterable[Fact],
    *,
    bound: bool = True,
    free: bool = False,
) -> str | None:
    """Return None if a number states a named fact, and a fault if words bind it to one."""
    if any(states(number, fact) for fact in named):
        return None
    matched = any(states(number, fact) for fact in known)
    if not bound:
        return None if matched or free else OPEN
    return PLACE if matched else NUMBER


@dataclass
class IntervalCheck:
    """The intervals of one sentence against the facts of a subject."""

    words: Words
    facts: Sequence[Fact]

    @cached_property
    def intervals(self) -> dict[Interval, tuple[float, float]]:
        """The bounds of each measure with an interval, by its name and group."""
        bounds: dict[Interval, dict[str, float]] = {}
        for fact in self.facts:
            if fact.role in BOUNDS:
                bounds.setdefault((fact.measure, fact.group), {}).setdefault(fact.role, fact.value)
        return {key: (b["low"], b["high"]) for key, b in bounds.items() if len(b) == 2}

    @property
    def first_group(self) -> int | None:
        """The group that the sentence names first."""
        return self.words.groups[0].group if self.words.groups else None

    def pair(self, low: WrittenNumber, high: WrittenNumber) -> str | None:
        """Check two bounds against the interval that the words before them name."""
        agreeing = [interval for interval in self.intervals if self._agrees(interval, low, high)]
        measures, _ = self.words.measures_of(low, frozenset(name for name, _ in self.intervals))
        measures = measures or self._measures_after(high)
        if any(self._is_meant(interval, (low, high), measures) for interval in agreeing):
            return None
        singles = all(self._is_known(number) for number in (low, high))
        if singles and low.whole and high.whole and low.unit is Unit.PLAIN:
            return None
        if agreeing or vocabulary.INTERVAL.search(self.words.text) or self._estimate_before(low):
            return PLACE if agreeing else NUMBER
        return None if singles else NUMBER if measures else OPEN

    def _measures_after(self, high: WrittenNumber) -> frozenset[str]:
        """Return the measures of `from 0.97 to 14.80 reaches the interval of the odds ratio`."""
        for mention in self.words.measures:
            between = self.words.text[high.end : mention.start]
            if mention.start >= high.end and re.fullmatch(
                r"[^.;,()\d]{0,30}\b(?:intervals?|limits)\s+of\s+the\s+", between
            ):
                return mention.measures
        return frozenset()

    def _agrees(self, interval: Interval, low: WrittenNumber, high: WrittenNumber) -> bool:
        in_percent = high.unit in {Unit.PERCENT, Unit.POINTS}
        if interval[0] in {"share", "risk_difference"}:
            factors: tuple[int, ...] = (100,) if in_percent else (1, 100)
        else:
            factors = (1,)
        return any(
            low.equals(factor * one) and high.equals(factor * two)
            for factor in factors
            for one, two in self._orientations(interval)
        )

    def _orientations(self, interval: Interval) -> list[tuple[float, float]]:
        """Return the bounds in both orders, and for the groups the other way round."""
        low, high = self.intervals[interval]
        bounds = [(low, high), (high, low)]
        if interval[0] in RATIOS and low > 0 and self.first_group != 0:
            bounds.append((1 / high, 1 / low))
        if interval[0] in DIFFERENCES and self.first_group == 1:
            bounds.append((-high, -low))
        return bounds

    def _is_meant(
        self,
        interval: Interval,
        pair: tuple[WrittenNumber, WrittenNumber],
        measures: frozenset[str],
    ) -> bool:
        """Tell whether an interval is that of the estimate or the words before a pair."""
        (name, owner), (low, high) = interval, pair
        estimate = self._estimate_before(low)
        group = self.words.following_group(high, 8)
        group = self.words.group_of(estimate or low) if group is None else group
        if owner is not None and group is not None and owner != group:
            return False
        stated = {f.measure for f in self.facts if f.role == "estimate" and estimate
                  and states(estimate, f)} & {name for name, _ in self.intervals}  # fmt: skip
        return name in stated if stated else not measures or name in measures

    def _estimate_before(self, low: WrittenNumber) -> WrittenNumber | None:
        """Return the number that a pair of bounds follows in brackets or behind a comma."""
        index = self.words.numbers.index(low)
        earlier = [n for n in self.words.numbers[:index] if not self.words.is_level(n)]
        if not earlier or self.words.pair_of(earlier[-1]):
            return None
        between = self.words.text[earlier[-1].end : low.start]
        return earlier[-1] if re.fullmatch(r"[^.;]{0,12}[(\[,;][^.;()]{0,40}", between) else None

    def _is_known(self, number: WrittenNumber) -> bool:
        return any(
            number.equals(fact.value) or (fact.percent and number.equals(100 * fact.value))
            for fact in self.facts
        )

    def within_extremes(self, number: WrittenNumber, facts: list[Fact]) -> list[Fact]:
        """Keep, behind `as small as` and `as large as`, the bounds that are such a value."""
        extreme = self.words.extreme_of(number)
        bounds = [f for f in facts if f.role in BOUNDS and extreme is not None]
        return [f for f in bounds if self._is_extreme(f, extreme or 0)] or facts

    def _is_extreme(self, fact: Fact, extreme: int) -> bool:
        low, high = self.intervals.get((fact.measure, fact.group), (fact.value, fact.value))
        if low * high < 0 or fact.measure in RATIOS:
            return True
        return abs(fact.value) == sorted((abs(low), abs(high)))[extreme]

    def odds(self, number: WrittenNumber) -> str | None:
        """Check odds that are written as `7 to 5`; None for other numbers."""
        words, index = self.words, self.words.numbers.index(number)
        later = words.numbers[index + 1 : index + 2]
        if not later or not vocabulary.ODDS_BEFORE.search(words.text[: number.start]):
            return None
        between = words.text[number.end : later[0].start]
        if not re.fullmatch(r"\s*(?:to|:)\s*", between) or not later[0].value:
            return None
        group, odds = words.group_of(number), number.value / later[0].value
        near = [f for f in self.facts if f.measure == "odds" and abs(f.value - odds) <= 0.05 * odds]
        return None if any(group in {None, f.group} for f in near) else PLACE if near else NUMBER

    def level(self, number: WrittenNumber) -> str | None:
        """Check a level of confidence or significance."""
        alpha = self.words.subject.alpha
        share = number.value / (100 if number.unit is Unit.PERCENT else 1)
        if any(abs(share - level) < 1e-9 for level in (alpha, 1 - alpha)):
            return None
        named = vocabulary.OF_INTERVAL.match(self.words.text, number.end)
        return NUMBER if named and any(map(self.words.pair_of, self.words.numbers)) else OPEN
