"""Checks of the numbers in a sentence.

A number passes only with evidence; a fault is reported only where the wording is unambiguous.
A number passes if it equals a fact that the words beside it name. Otherwise it is a fault where a
report's own form names one statistic, as in `the odds ratio is 2.43`, and a hint elsewhere.
"""

import re
from collections.abc import Sequence
from itertools import product

from biaswatch.services.evaluator.domain.reading import cues
from biaswatch.services.evaluator.domain.reading.evidence import SentenceEvidence
from biaswatch.services.evaluator.domain.reading.facts import (
    DIFFERENCES,
    ODDS_RATIOS,
    RISKS,
    SHARES,
    Fact,
    facts_of,
    is_written,
)
from biaswatch.services.evaluator.domain.reading.numbers import Number, Unit
from biaswatch.shared.contracts import Fault, UncheckedSentence

NUMBER, PLACE = "number", "place"
THRESHOLDS = {Unit.PLAIN: (0.8, 0.05, 0.01, 0.001, 0.2, 0.5, 1.25, 5, 15), Unit.PERCENT: (80,)}
"""Values with which statistics are compared."""
SMALL = 10
"""Whole numbers up to this one count something only where a noun says so."""
MAX_APART = 80
"""Characters between an estimate and its interval."""
_P_PLAIN = re.compile(r"\bp(?:[\s-]values?)?\s*(?:=|is|was|of)\s*$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['\u2019]s?\Z")
_INTERVAL_BESIDE = re.compile(
    r"[\s%,]*(?:[(\[;]\s*)?(?:with\s+)?(?:an?\s+|its\s+|the\s+)?(?:exact\s+)?(?:\d+[\s-]*(?:%|percent)?"
    r"[\s-]*)?(?:confidence\s+)?(?:C\.?I\.?|interval)?(?:\s+(?:of|from|is|was))?[\s:,(\[]*",
    re.IGNORECASE,
)
"""Between an estimate and its interval, in the plainest form."""
COUNTED = frozenset({"having", "lacking", "size", "missing", "asked", "answered"})
NEEDED = {
    "lacking": cues.NOT, "lacking_share": cues.NOT, "missing": cues.MISSING,
    "missing_share": cues.MISSING, "answered_share": cues.ANSWERS, "difference": cues.APART,
    "asked": cues.ANSWERS, "answered": cues.ANSWERS,
    "comparisons": cues.COMPARED, "expected": cues.EXPECTED,
}  # fmt: skip
"""Words that a sentence has to hold where a number states what no mention names."""
UNNAMED = frozenset(NEEDED) | SHARES | COUNTED | DIFFERENCES
"""Statistics that other words than their names show."""
_WHOLE_BEFORE = re.compile(
    r"(?:\b(?:of|among|from|the|all|these|those|with|by|has|have)|[:=|/(]|\bn)\s*$", re.IGNORECASE
)
_OF = r"\b(?:of|among)\s+(?:\S+\s+){0,3}?"
_FACTOR_CHARS = 45


class NumberCheck:
    """The check of one sentence: a number without evidence is a fault if certain, else a hint."""

    def __init__(self, sentence: UncheckedSentence, evidence: SentenceEvidence) -> None:
        self.sentence, self.evidence = sentence, evidence
        self.facts = facts_of(evidence.subject)
        self.faults: list[Fault] = []
        self.hints: list[Fault] = []
        self.last: tuple[int, list[Fact]] = (0, [])
        """End of the last number outside an interval, and the facts that it states."""
        self._run()

    def _run(self) -> None:
        numbers = list(self.evidence.numbers)
        while numbers:
            number = numbers.pop(0)
            if self._is_constant(number):
                continue
            if numbers and self._is_interval(number, numbers[0]):
                self._check_interval(number, numbers.pop(0))
            else:
                self._check_single(number)

    def _is_constant(self, number: Number) -> bool:
        """Tell whether a number is a level, a boundary or a small number of things."""
        evidence = self.evidence
        if evidence.is_level(number):
            confidence = 100 * (1 - evidence.subject.alpha)
            if 80 <= number.value < 100 and abs(number.value - confidence) > 1e-6:
                self._report(number, [], certain=False)
            return True
        if number.whole and number.value <= SMALL and number.unit is Unit.PLAIN:
            unnamed = number.word and not evidence.has_noun(number)
            unnamed = unnamed or bool(cues.NO_CASES.match(evidence.text, number.end))
            if unnamed and not evidence.whole_of(number):
                return True
        if evidence.names(number).specific or evidence.is_p(number):
            return False
        boundary = {-1: number.high, 1: number.low}.get(number.side)
        levels = THRESHOLDS.get(number.unit, ())
        if boundary and any(abs(boundary - level) < 1e-6 for level in levels):
            return True
        counted = number.unit is not Unit.PLAIN or evidence.has_noun(number) or evidence.is_row
        return number.value in {0.0, 1.0, 100.0} and not (counted or evidence.whole_of(number))

    def _check_single(self, number: Number) -> None:
        written = [fact for fact in self.facts if is_written(number, fact)]
        named = [fact for fact in written if names_fact(self.evidence, number, fact)]
        self.last = number.end, named
        if not named:
            other_part = {f.statistic for f in written} & self.evidence.names(number).statistics
            certain = not other_part and self._is_plain(number)
            self._report(number, written, certain=certain)

    def _is_plain(self, number: Number) -> bool:
        """Tell whether the words leave no doubt about the statistic of a number."""
        evidence, text = self.evidence, self.evidence.text
        if number.word or number.side or evidence.whole_of(number) or cues.UNSURE.search(text):
            return False
        if evidence.is_p(number):
            return _P_PLAIN.search(text[: number.start]) is not None
        names = evidence.names(number)
        if names.specific and names.plain and number.unit is Unit.PLAIN:
            return names.statistics <= {fact.statistic for fact in self.facts}
        of_group = cues.OF_WHOLE.match(text, number.end) if number.unit is Unit.PERCENT else None
        named = of_group and any(
            group.start == of_group.end() and not _POSSESSIVE.search(text[: group.end])
            for group in evidence.groups
        )
        return bool(named and evidence.outcome.search(text))

    def _is_interval(self, low: Number, high: Number) -> bool:
        joined = cues.TO.fullmatch(self.evidence.text, low.end, high.start)
        if joined is None or self.evidence.is_level(high):
            return False
        listed = re.search(r"and|[,;]", joined[0])
        return not listed or cues.INTERVAL.search(self.evidence.lead(low)) is not None

    def _check_interval(self, low: Number, high: Number) -> None:
        ends = [f for f in self.facts if f.part in {"low", "high"}]
        ends = [f for f in ends if f.inverse <= self.evidence.names_second_first]
        lows, highs = ([f for f in ends if is_written(number, f)] for number in (low, high))
        pairs = [one for one, two in product(lows, highs) if two == one.other_end(two.value)]
        anchors, plain = self._anchors(low)
        names, owner = self.evidence.names(low).statistics, self.evidence.owner(low)
        for pair in pairs:
            named = pair.statistic in names or not names
            if pair.group is not None:
                named = pair.group == owner
            if (pair.statistic, pair.group) in anchors if anchors else named:
                return
        self._report(low, pairs, certain=bool(anchors) and plain, other=high)

    def _anchors(self, low: Number) -> tuple[set[tuple[str, int | None]], bool]:
        """Return what the estimate before an interval states, and whether it is right there."""
        (end, stated), text = self.last, self.evidence.text
        if low.start - end >= MAX_APART:
            return set(), False
        keys = {
            (f.part if f.statistic in {"factor", "change"} else f.statistic, f.group)
            for f in stated
        }
        plain = _INTERVAL_BESIDE.fullmatch(text, end, low.start)
        return keys, bool(plain and not cues.UNSURE.search(text))

    def _report(
        self, number: Number, facts: Sequence[Fact], *, certain: bool, other: Number | None = None
    ) -> None:
        text = f"{number.text} with {other.text}" if other else number.text
        labels = sorted({fact.statistic.replace("_", " ") for fact in facts})[:3]
        message = f"The number {text} is in none of the statistics."
        if facts:
            message = f"The number {text} equals {', '.join(labels)}; the words do not name that."
        remark = fault_at(self.sentence, PLACE if facts else NUMBER, message)
        (self.faults if certain else self.hints).append(remark)


def fault_at(sentence: UncheckedSentence, kind: str, message: str) -> Fault:
    """Return a fault, or a hint, about a sentence."""
    where, start, end = sentence.where, sentence.start, sentence.end
    return Fault(kind=kind, sentence=message, where=where, start=start, end=end)


def names_fact(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether the words beside a number name a fact."""
    names, statistic = evidence.names(number), fact.statistic
    if evidence.is_p(number):
        return fact.part == "p" and statistic in evidence.tests(number)
    if statistic in {"change", "factor"}:
        return _fits(evidence, number, fact)
    grouped = fact.group is not None or statistic in COUNTED | SHARES
    if grouped and statistic != "expected" and not evidence.is_of(number, fact):
        return False
    if fact.part == "p":
        return statistic in names.statistics
    if not evidence.is_part(number, fact.part) or fact.inverse > evidence.names_second_first:
        return False
    if names.specific or statistic not in UNNAMED:
        of_mean = statistic == "mean" and not names.statistics
        return of_mean or statistic in names.statistics
    return _is_unnamed(evidence, number, fact)


def _is_unnamed(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether other words than a name show what a number states."""
    if number.unit is Unit.PERCENT and cues.CHANGE.match(evidence.text, number.end):
        return False
    if fact.statistic in SHARES:
        return _is_share(evidence, number, fact)
    if fact.statistic in DIFFERENCES:
        names = evidence.names(number).statistics
        differs = names <= cues.EVERYDAY and cues.APART.search(evidence.text)
        named = fact.statistic in names or bool(differs)
        return named and not _is_turned(evidence, number, fact)
    return number.unit is Unit.PLAIN and _is_counted(evidence, number, fact)


def _is_turned(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether a difference has the wrong sign, as in `women 0.4 points higher than men`."""
    changed = cues.CHANGE.match(evidence.text, number.end)
    before = [group.group for group in evidence.groups if group.end <= number.start]
    after = [group.group for group in evidence.groups if group.start >= number.end]
    if not changed or not before or not after or before[-1] == after[0]:
        return False
    lower = cues.LOWER.match(evidence.text, number.end) is not None
    return fact.part == "estimate" and (fact.value < 0) != (lower == (before[-1] == 0))


def _fits(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether the words fit the measure of a change or a factor."""
    text, names = evidence.text, evidence.names(number).statistics
    changes = cues.CHANGE.match(text, number.end) is not None
    unit = number.unit is Unit.TIMES or (number.unit is Unit.PERCENT and changes)
    if not unit or changes != (fact.statistic == "change"):
        return False
    if not changes and cues.OF_WHOLE.match(text, number.end):
        return False
    if changes and (fact.value < 0) != bool(cues.LOWER.match(text, number.end)):
        return False
    after = text[number.end : number.end + _FACTOR_CHARS]
    likely = cues.LIKELY.search(after) and not cues.ODDS.search(after)
    of_odds = not likely and (cues.ODDS.search(after) or cues.ODDS.search(text[: number.start]))
    if fact.part in ODDS_RATIOS:
        return bool(of_odds) and fact.part in (names & ODDS_RATIOS or {"odds_ratio"})
    many = cues.MANY.match(after) is not None
    if fact.part in RISKS:
        return not of_odds and not many
    return many or fact.part in {"mean", "tolerance"}


def _is_share(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether words show that a number is a share of this kind."""
    text, statistic = evidence.text, fact.statistic
    named = "share" in evidence.names(number).statistics
    if number.unit is Unit.PLAIN and not named and not (evidence.is_row and not number.whole):
        return False
    if statistic == "part":
        return re.search(_OF + evidence.outcome.pattern, text, re.IGNORECASE) is not None
    of_whole = cues.OF_WHOLE.match(text, number.end)
    if fact.group is not None and of_whole and evidence.following_group(number) is None:
        return False
    if statistic == "share":
        return not cues.NOT.search(evidence.masked(evidence.segment(number)))
    return NEEDED[statistic].search(evidence.masked(text)) is not None


def _is_counted(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether words show that a number is a count of this kind."""
    text, segment = evidence.text, evidence.masked(evidence.segment(number))
    if fact.statistic == "having":
        known = evidence.whole_of(number) or evidence.is_row or evidence.outcome.search(text)
        return bool(known) and not cues.NOT.search(segment)
    if fact.statistic == "size":
        before = _WHOLE_BEFORE.search(text[: number.start])
        return before is not None or not evidence.outcome.search(text, number.end)
    of_row = evidence.is_row and fact.statistic == "lacking"
    return of_row or NEEDED[fact.statistic].search(evidence.masked(text)) is not None
