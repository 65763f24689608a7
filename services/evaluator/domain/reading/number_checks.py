"""Checks of the numbers in a sentence: numbers in no statistic, and numbers in a wrong place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.services.evaluator.domain.reading.facts import ANY, Fact
from biaswatch.services.evaluator.domain.reading.mentions import TESTS, SentenceMentions
from biaswatch.services.evaluator.domain.reading.numbers import Unit, WrittenNumber

NUMBER, PLACE = "number", "place"
WHOLE = frozenset({"count", "total", "difference"})
NEAR_FACTOR = 0.15
"""How far, as a share, a factor in words may be off."""
SMALL_WORDS = 10
_OF_COUNTS = re.compile(
    r"\s*(?:of|in|out|more|fewer|additional|percent|per\s?cent|answers?|cases?|applicants?|people)\b",
    re.IGNORECASE,
)
_RATES = re.compile(r"\b(?:expected|cell)\b", re.IGNORECASE)
BESIDE_CHARS = 30
_CONSTANT = re.compile(
    r"\b(?:level|confidence|CI|interval|threshold|alpha|significan\w*|contain\w*|exclud\w*|includ\w*"
    r"|spans?|cross\w*|null|than|above|below|equality)\b|[<>=\u2264\u2265]",
    re.IGNORECASE,
)
_CITATION = re.compile(r"\b(?:section|table|figure|no\.)\s*$", re.IGNORECASE)
_COMPARED = re.compile(r"\b(?:compar\w+|tests?|Bonferroni|correct\w*|adjust\w*)\b", re.IGNORECASE)
_P_VALUE = re.compile(r"\bp(?:[-\s]?values?)?\b", re.IGNORECASE)
_PERCENT = re.compile(r"%|\bper\s?cent|\bpoints?\b", re.IGNORECASE)


_ROLES = {
    "p": {"p"},
    "p_threshold": {"p", ANY},
    "low": {"low", ANY},
    "pair_low": {"low", ANY},
    "high": {"high", ANY},
    "pair_high": {"high", ANY},
    "bound": {"low", "high"},
    "estimate": {"estimate", "statistic", "change", "times", "count", "total", "difference", ANY},
}
"""Roles of facts that a number may state, by the role that its words give it."""


_PAIR = ("pair_low", "pair_high")


@dataclass(frozen=True)
class NumberFault:
    """A number that is wrong, and why."""

    kind: str
    message: str


@dataclass(frozen=True)
class CheckedNumbers:
    """The result of checking the numbers of a sentence."""

    faults: tuple[NumberFault, ...]
    open: tuple[str, ...]
    """Numbers that equal several statistics while the words do not say which."""


def checked_numbers(sentence: SentenceMentions, facts: Sequence[Fact]) -> CheckedNumbers:
    """Check every number of a sentence against the facts."""
    faults, open_ = list[NumberFault](), list[str]()
    estimate: tuple[WrittenNumber, frozenset[str]] | None = None
    for number in sentence.numbers:
        if _is_free(number, sentence):
            continue
        equal = [fact for fact in facts if _equals(number, fact, sentence)]
        role = sentence.role_of(number)
        if estimate and role in _PAIR and sentence.follows_estimate(number, estimate[0]):
            equal = [fact for fact in equal if fact.measure in estimate[1]] or equal[:0]
        elif role not in _PAIR and any(fact.role != ANY for fact in equal):
            named = frozenset(f.measure for f in equal if f.role == "estimate")
            estimate = (number, named) if named else None
        if not equal:
            message = f"The number {number.text.strip()} is in none of the statistics."
            faults.append(NumberFault(NUMBER, message))
        elif fault := _place_fault(number, equal, sentence):
            faults.append(NumberFault(PLACE, fault))
        elif _is_open(number, equal, sentence):
            open_.append(number.text.strip())
    return CheckedNumbers(tuple(faults), tuple(open_))


def _is_free(number: WrittenNumber, sentence: SentenceMentions) -> bool:
    """Tell whether a number states no statistic: a small number in words, a count of things."""
    rest = sentence.text[number.end : number.end + 25]
    if number.words and number.unit is Unit.PLAIN and number.step == 1.0:
        counted = _OF_COUNTS.match(rest) or sentence.following_group(number, 1) is not None
        if number.value <= SMALL_WORDS and not counted:
            return True
    if number.value == 5 and _RATES.search(sentence.text):
        return True
    return _CITATION.search(sentence.text[: number.start]) is not None


def _equals(number: WrittenNumber, fact: Fact, sentence: SentenceMentions) -> bool:
    """Tell whether a written number states the value of a fact."""
    if fact.role == "p" and sentence.role_of(number) in {"threshold", "p_threshold"}:
        return _threshold_holds(number, fact, sentence)
    if number.unit is Unit.TIMES and number.words:
        return _is_factor(number, fact)
    if number.unit in {Unit.PERCENT, Unit.POINTS}:
        return fact.percent and number.equals(100 * fact.value)
    as_percent = fact.percent and _in_percent(fact, sentence) and number.equals(100 * fact.value)
    if fact.role in WHOLE:
        return number.step >= 1 and number.equals(fact.value)
    if sentence.counts_of(number):
        return False
    whole = number.unit is Unit.PLAIN and number.step >= 1
    if fact.role == ANY:
        return _is_constant(number, fact, sentence)
    near = _is_near(number, fact) and sentence.measure_of(number) is not None
    return as_percent or (number.equals(fact.value) and (not whole or near))


def _is_constant(number: WrittenNumber, fact: Fact, sentence: SentenceMentions) -> bool:
    """Tell whether a number is a level, a value of no difference or a base, by its words."""
    if not number.equals(fact.value):
        return False
    if number.step >= 1:
        return True
    beside = sentence.text[max(0, number.start - BESIDE_CHARS) : number.end + BESIDE_CHARS]
    return _CONSTANT.search(beside) is not None


def _is_factor(number: WrittenNumber, fact: Fact) -> bool:
    """Tell whether a factor in words, as in `twice`, is near a ratio."""
    ratio = fact.measure not in {"constant", "tolerance"} and fact.role in {"estimate", "times"}
    return ratio and abs(number.value - fact.value) <= NEAR_FACTOR * fact.value


def _is_near(number: WrittenNumber, fact: Fact) -> bool:
    """Tell whether a whole number may stand for an estimate: hardly rounded, or called rough."""
    off = abs(abs(fact.value) - abs(number.value))
    return off <= (0.05 if number.rough else 0.01) * abs(fact.value)


def _in_percent(fact: Fact, sentence: SentenceMentions) -> bool:
    """Tell whether a share may be written times 100 without a unit beside it."""
    per_hundred = fact.measure in {"share", "risk_difference"} and fact.role == "estimate"
    return per_hundred or _PERCENT.search(sentence.text) is not None


def _threshold_holds(number: WrittenNumber, fact: Fact, sentence: SentenceMentions) -> bool:
    before = sentence.text[: number.start].rstrip()
    above = before.endswith((">", "\u2265", "above", "over", "exceeds", "exceed"))
    return fact.value > number.value if above else fact.value < number.value


def _place_fault(
    number: WrittenNumber, equal: Sequence[Fact], sentence: SentenceMentions
) -> str | None:
    """Return why no fact that equals a number fits its words; None if one fits."""
    text = number.text.strip()
    measures, group = sentence.measure_of(number), sentence.group_of(number)
    fitting = [fact for fact in equal if _fits_role(fact, number, sentence)]
    if not fitting:
        return f"The number {text} is a statistic, but not the one that the words beside it name."
    if measures is not None:
        fitting = [fact for fact in fitting if _fits_measure(fact, measures)]
        if not fitting:
            return f"The number {text} belongs to another statistic."
    if group is not None and not any(fact.group in {None, group} for fact in fitting):
        return f"The number {text} belongs to the other group."
    return None


def _fits_role(fact: Fact, number: WrittenNumber, sentence: SentenceMentions) -> bool:
    if fact.measure == "comparisons":
        return _COMPARED.search(sentence.text) is not None
    role = sentence.role_of(number)
    if fact.role == "p" and role is None:
        return _P_VALUE.search(sentence.text) is not None
    # The magnitudes of a negative interval are in reverse order.
    if fact.value < 0 and not number.signed and fact.role in {"low", "high"}:
        return role not in {"p", "p_threshold"}
    return role not in _ROLES or fact.role in _ROLES[role]


def _fits_measure(fact: Fact, measures: frozenset[str]) -> bool:
    if fact.role == ANY or fact.measure in {"comparisons", "missing", "asked"}:
        return True
    if fact.measure == "risk_difference" and "share" in measures:
        return True
    if fact.role == "p":
        return fact.measure in measures or not measures & TESTS
    if fact.role in WHOLE:
        return True
    return fact.measure in measures


def _is_open(number: WrittenNumber, equal: Sequence[Fact], sentence: SentenceMentions) -> bool:
    named = sentence.measure_of(number) is not None or sentence.group_of(number) is not None
    kinds = {(fact.measure, fact.role, fact.group) for fact in equal if fact.role != ANY}
    return not named and len(kinds) > 1
