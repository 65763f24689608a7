"""Checks of numbers in a sentence.

A number disagrees if words bind it to a statistic that it does not state: a measure, a group, a
p-value, an interval, a level, or a noun for cases. It is a fault where a report's own form names
that statistic, as in `the odds ratio is 2.43`, and a hint elsewhere. Other numbers are left to
readers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from biaswatch.services.evaluator.domain.reading import vocabulary
from biaswatch.services.evaluator.domain.reading.facts import DIFFERENCES, RATIOS, Fact, pairs_of
from biaswatch.services.evaluator.domain.reading.intervals import (
    BOUNDS,
    NUMBER,
    OPEN,
    PLACE,
    IntervalCheck,
    verdict,
)
from biaswatch.services.evaluator.domain.reading.numbers import Unit, WrittenNumber
from biaswatch.services.evaluator.domain.reading.words import Words

FAULTS = {
    NUMBER: "The number {} does not agree with the statistic that the words beside it name.",
    PLACE: "The number {} is another statistic than the one that the words beside it name.",
}
HINTS = {
    NUMBER: "The number {} may not agree with the statistic that the sentence is about.",
    PLACE: "The number {} may be another statistic than the one that the sentence is about.",
}
THRESHOLDS = frozenset({0.8, 0.05, 0.01, 0.001, 0.2, 0.5, 1.25})
"""Values with which statistics are compared."""
SMALL_WORDS = 10
PER_CENT_OF = frozenset({"impact_ratio", "risk_difference", "gap"})
FACTORS = RATIOS | {"cases", "share", "part", "mean", "odds"}
WHOLE_MEASURES = RATIOS | DIFFERENCES | {"chi_square", "cmh", "tolerance"}


@dataclass(frozen=True)
class CheckedNumbers:
    """The result of checking the numbers of a sentence."""

    faults: tuple[tuple[str, str], ...]
    """Kind and message."""
    hints: tuple[tuple[str, str], ...]
    """Kind and message of numbers that may disagree."""
    open: tuple[str, ...]
    """Numbers that no words bind to a statistic."""


def checked_numbers(words: Words, facts: Sequence[Fact]) -> CheckedNumbers:
    """Check every number of a sentence against the facts of its subject."""
    check = SentenceCheck(words, facts)
    faults: list[tuple[str, str]] = []
    hints: list[tuple[str, str]] = []
    unbound: list[str] = []
    hypothetical = vocabulary.HYPOTHETICAL.search(words.text)
    for number in words.numbers:
        kind, text = check.result(number), number.text.strip()
        if kind == OPEN or (kind and hypothetical):
            unbound.append(text)
        elif kind and check.is_certain(number):
            faults.append((kind, FAULTS[kind].format(text)))
        elif kind:
            hints.append((kind, HINTS[kind].format(text)))
    return CheckedNumbers(tuple(faults), tuple(hints), tuple(unbound))


class SentenceCheck(IntervalCheck):
    """The numbers of one sentence against the facts of a subject."""

    def is_certain(self, number: WrittenNumber) -> bool:
        """Tell whether the words leave little doubt about the statistic of a number in digits.

        A group beside a decimal number does: it may be a mean, a rate, or the other group's.
        """
        words, group = self.words, self.words.group_of(number)
        if number.words:
            return False
        if number.unit is Unit.PERCENT:
            return group is not None and not vocabulary.RELATIVE.search(words.text)
        tests = frozenset[str]().union(*(m.measures for m in words.measures)) & vocabulary.TESTS
        if number.unit is not Unit.PLAIN or len(tests) > 1 or vocabulary.OTHER.search(words.text):
            return False
        if words.is_stated(number):
            return True
        named, _ = words.measures_of(number, vocabulary.STATED_MEASURES)
        is_pair = words.pair_of(number) is not None
        return group is None and (number.whole or bool(named) or is_pair)

    def result(self, number: WrittenNumber) -> str | None:
        """Return None for a number that agrees or states no statistic, a fault, or `open`."""
        words = self.words
        if words.is_level(number):
            return self.level(number)
        if self._is_constant(number):
            return None
        if words.is_of_other(number):
            return OPEN
        if pair := words.pair_of(number):
            return self.pair(*pair) if number is pair[0] else None
        return self.odds(number) or self._single(number)

    def _single(self, number: WrittenNumber) -> str | None:
        if self.words.is_p(number):
            return self._p_value(number)
        if number.unit is Unit.TIMES:
            return self._times(number)
        if number.unit in {Unit.PERCENT, Unit.POINTS}:
            return self._percent(number)
        return self._count(number) if number.whole else self._decimal(number)

    def _is_constant(self, number: WrittenNumber) -> bool:
        """Tell whether a number is 0, 1 or 100, or a boundary that something is compared with."""
        if number.value in {100, 1000, 10000} and self.words.per:
            return True
        if number.value in {0, 1, 100} and not self.words.counts_cases(number, 0):
            return True
        share = number.value / (100 if number.unit is Unit.PERCENT else 1)
        compared = self.words.comparison_of(number) != 0 and not self.words.is_p(number)
        return share in THRESHOLDS and compared

    def _p_value(self, number: WrittenNumber) -> str | None:
        if re.match(r"\s+in\s+\d", self.words.text[number.end :]):
            return OPEN
        measures, direct = self.words.measures_of(number, vocabulary.TESTS)
        values = [fact for fact in self.facts if fact.role == "p"]
        named = [fact for fact in values if not measures or fact.measure in measures]
        if side := self.words.comparison_of(number):
            return None if any(side * (f.value - number.value) > 0 for f in named) else NUMBER
        return verdict(number, named or values, self.facts if direct else values)

    def _times(self, number: WrittenNumber) -> str | None:
        text = self.words.text
        measures = self._measures_of_factor(number)
        ratios = [f for f in self.facts if f.role in {"estimate", "times"} and f.measure in FACTORS]
        named = [f for f in ratios if not measures or f.measure in measures or f.measure == "odds"]
        if number.words and number.value < 1:  # `half of`, `a third of`
            named = [f for f in ratios if f.measure not in {"mean", "odds"}]
            named += [f for f in self.facts if f.measure in DIFFERENCES or f.role == "change"]
        if vocabulary.FAR.search(text):
            near = measures or RATIOS
            named += [f for f in self.facts if f.role in BOUNDS and f.measure in near]
        side = self.words.comparison_of(number)
        if side and any(0 < side * (f.value - number.value) < number.value for f in named):
            return None
        return verdict(number, named, ratios, bound=bool(measures))

    def _measures_of_factor(self, number: WrittenNumber) -> frozenset[str]:
        text = self.words.text
        measures, _ = self.words.measures_of(number, RATIOS)
        after = text[number.end : number.end + 45]
        if vocabulary.ODDS.search(after) or vocabulary.ODDS_NEAR.search(text[: number.start]):
            return measures or vocabulary.ODDS_RATIOS
        likely = frozenset({"relative_risk", "impact_ratio"})
        return likely if vocabulary.LIKELY.search(after) else measures

    def _percent(self, number: WrittenNumber) -> str | None:
        text, group = self.words.text, self.words.group_of(number)
        if vocabulary.BEYOND.search(text) and text[: number.start].rstrip().endswith(" by"):
            return OPEN
        facts = [f for f in self.facts if f.percent or f.measure == "gap"]
        measures, _ = self.words.measures_of(number, PER_CENT_OF)
        named = self._named_percentages(number, facts, measures)
        extreme = self.words.extreme_of(number) is not None
        if not (extreme or vocabulary.INTERVAL.search(text) or vocabulary.FAR.search(text)):
            named = [f for f in named if f.role not in BOUNDS]
        ratio = self._ratio_before(number)
        if ratio is not None:
            return None if number.equals(100 * ratio) else NUMBER
        named = self.within_extremes(number, named)
        side = self.words.comparison_of(number)
        if side and any(0 < side * (100 * f.value - number.value) < 25 for f in named):
            return None
        bound = group is not None or bool(measures) or self._is_share(number, facts)
        return verdict(number, named, facts, bound=bound)

    def _named_percentages(
        self, number: WrittenNumber, facts: list[Fact], measures: frozenset[str]
    ) -> list[Fact]:
        """Return the differences, changes or shares that a percentage may be."""
        text, group = self.words.text, self.words.group_of(number)
        if number.unit is Unit.POINTS:
            return [f for f in facts if f.measure in DIFFERENCES]
        before = text[: number.start]
        if vocabulary.CHANGE.match(text, number.end) or vocabulary.CHANGED.search(before):
            odds = vocabulary.ODDS.search(text) and not vocabulary.LIKELY.search(text)
            changes = [f for f in facts if f.role == "change"]
            return [f for f in changes if not odds or f.measure.startswith("odds")]
        shares = {"share", "missing", *measures}
        shares |= {"part"} if vocabulary.OF_WHOLE.search(text) else set()
        pooled = group is None or vocabulary.POOLED.search(text)
        return [
            f
            for f in self._of_group(facts, group)
            if f.role != "change" and f.measure in shares
            and (pooled or f.group is not None or f.measure != "share")
        ]  # fmt: skip

    def _is_share(self, number: WrittenNumber, facts: list[Fact]) -> bool:
        """Tell whether words or other numbers show that a percentage is one of cases."""
        words, before = self.words, self.words.text[: number.start].rstrip()
        percentages = [n for n in words.numbers if n is not number and n.unit is Unit.PERCENT]
        shares = [f for f in facts if f.measure == "share"]
        matched = any(n.equals(100 * f.value) for n in percentages for f in shares)
        behind = before.endswith("(") and number is not words.numbers[0]
        pooled = vocabulary.POOLED.search(words.text) is not None
        counted = words.counts_cases(number, 3)
        return counted or matched or behind or pooled or number.unit is Unit.POINTS

    def _ratio_before(self, number: WrittenNumber) -> float | None:
        """Return 7/12 in `7 of 12 (58.3%)`; None without counts right before a percentage."""
        index = self.words.numbers.index(number)
        if index < 2:
            return None
        part, whole = self.words.numbers[index - 2 : index]
        between = self.words.text[whole.end : number.start]
        is_pair = self.words.whole_of(part) is whole and vocabulary.APPOSED.fullmatch(between)
        return part.value / whole.value if is_pair and whole.value else None

    def _count(self, number: WrittenNumber) -> str | None:
        words, before = self.words, self.words.text[: number.start]
        measures, direct = words.measures_of(number, WHOLE_MEASURES)
        if measures and direct and not words.counts_cases(number, 0):
            return self._decimal(number)
        if any(number in (words.whole_of(n), words.whole_before(n)) for n in words.numbers):
            return None  # checked with its part
        if whole := words.whole_of(number) or words.whole_before(number):
            return self._part(number, whole)
        if vocabulary.NO_CASES.match(words.text, number.end) or vocabulary.NAMED.search(before):
            return None
        small = number.words and number.value <= SMALL_WORDS
        if small and vocabulary.FOR_EVERY.search(words.text):
            return OPEN
        bound = self._counts(number, small=small) and not words.comparison_of(number)
        return verdict(number, self._named_counts(number), self.facts, bound=bound, free=small)

    def _counts(self, number: WrittenNumber, *, small: bool) -> bool:
        """Tell whether words show that a whole number counts cases."""
        words, group = self.words, self.words.group_of(number)
        if words.counts_cases(number, 1 if small or group is None else 4):
            return True
        if vocabulary.TOTAL.search(words.text[: number.start]) or (
            words.is_row and group is not None
        ):
            return True
        return words.following_group(number, 1 if small else 3) is not None

    def _named_counts(self, number: WrittenNumber) -> Iterator[Fact]:
        """Yield the counts that a whole number may be."""
        text, group = self.words.text, self.words.group_of(number)
        apart = vocabulary.APART.search(text) is not None
        totals = group is None or apart or vocabulary.POOLED.search(text) is not None
        having = self.words.counts_outcome(number)
        corrected = vocabulary.CORRECTED.search(text) is not None
        for fact in self._of_group(self.facts, group):
            if fact.role not in {"count", "difference"} or fact.measure in DIFFERENCES:
                continue
            if fact.measure == "lacking" and having:
                continue
            is_total = fact.role == "count" and fact.group is None
            is_total &= fact.measure in {"cases", "lacking"}
            named = corrected if fact.measure == "comparisons" else totals or not is_total
            if named and (fact.role == "count" or apart):
                yield fact
        if base := self.words.per:
            for fact in self._of_group(self.facts, group):
                if fact.measure in {"share", "risk_difference"}:
                    yield replace(fact, value=base * fact.value, percent=False)

    def _of_group(self, facts: Sequence[Fact], group: int | None) -> list[Fact]:
        return [fact for fact in facts if group is None or fact.group in {None, group}]

    def _part(self, part: WrittenNumber, whole: WrittenNumber) -> str | None:
        """Check `7 of 12`: a part and its whole."""
        words, group = self.words, self.words.group_of(part)
        if any(vocabulary.NO_CASES.match(words.text, number.end) for number in (part, whole)):
            return None
        known = pairs_of(words.subject)
        pairs = [pair for pair in known if part.equals(pair[0]) and whole.equals(pair[1])]
        if any(group is None or owner in {None, group} for *_, owner in pairs):
            return None
        apart = [f for f in self.facts if f.role == "difference" and f.measure == "cases"]
        differ = vocabulary.APART.search(words.text)
        if differ and any(part.equals(fact.value) for fact in apart):
            return OPEN
        counts = [fact for fact in self.facts if fact.role == "count"]
        known_part, known_whole = (any(n.equals(f.value) for f in counts) for n in (part, whole))
        bound = group is not None or words.counts_cases(whole) or words.counts_cases(part)
        if words.comparison_of(part) or not (bound or (known_whole and whole.value > SMALL_WORDS)):
            return OPEN
        return PLACE if (known_part and known_whole) or pairs else NUMBER

    def _decimal(self, number: WrittenNumber) -> str | None:
        words, group, end = self.words, self.words.group_of(number), self.words.end_of(number)
        known = frozenset(fact.measure for fact in self.facts) | vocabulary.TESTS
        measures, direct = words.measures_of(number, known)
        named = self._of_group(self._named_decimals(measures), group)
        if self.first_group == 0:
            named = [f for f in named if f.role != "times" or f.measure not in RATIOS]
        if direct and not end and not vocabulary.INTERVAL.search(words.text[: number.start]):
            named = [f for f in named if f.role not in BOUNDS
                     and (f.role != "times" or f.measure != "impact_ratio")]  # fmt: skip
        named = self.within_extremes(number, named)
        if end:  # the magnitudes of a negative interval are in reverse order
            roles = {end} if number.signed else BOUNDS
            named = [f for f in named if f.role == end or (f.value < 0 and f.role in roles)]
        side = words.comparison_of(number)
        if side and any(side * (abs(f.value) - number.value) > 0 for f in named):
            return None
        bound = bool(measures) or group is not None or bool(end)
        return verdict(number, named, self.facts, bound=bound)

    def _named_decimals(self, measures: frozenset[str]) -> list[Fact]:
        """Return the facts of measures; p-values only where a test is named, or in a table."""
        text = self.words.text
        p_values = measures <= vocabulary.TESTS and (
            re.search(r"\bp\b", text) or "statistic" not in text
        )
        roles = {"estimate", "low", "high", "times", "difference"}
        roles |= {"p"} if p_values or self.words.is_row else set()
        left_out = {"expected", "cases", "lacking", "part"}
        if "share" in measures:
            measures |= {"mean", "odds"}
            measures |= set() if vocabulary.RATE_IS.search(text) else {"risk_difference"}
        return [
            f
            for f in self.facts
            if f.role in roles
            and f.measure not in left_out
            and (not measures or f.measure in measures)
        ]
