"""Numbers that are no finding: the usual levels, the value of no difference, degrees of freedom."""

import re

from biaswatch.services.evaluator.domain.checks.facts import NumberRole
from biaswatch.services.evaluator.domain.checks.written_numbers import (
    Unit,
    WrittenNumber,
    starts_of,
)

COARSE = 0.1
"""A value of no difference is written as 0, 1 or 1.0; finer numbers are measured ones."""
_USUAL_LEVELS = {0.01, 0.05, 0.1}
_CONFIDENCES = {0.9, 0.95, 0.99}
_MARK_TEXT = re.compile(
    r"\bsignifican\w+|\bhurdle|\bmark\b|\bsamples\b|\bside\s+of\s+\d|\bone\s+time\s+in\b|\bbar\b|\bthresholds?\b|\bstandards?\b|\bcriteri(?:on|a)\b|\byardstick|\bbenchmark|\balpha\b|\bcut-?offs?\b|\bconvention\w*|\bchance\b|\berror\b|\bof\s+the\s+time\b|\bof\s+(?:all\s+)?(?:such\s+)?(?:samples|times|cases\s+like)\b|\bnull\b|\bhypothes[ei]s\b|\breject\w*|\b(?:the|a)\s+\.?\d\S*(?:\s*%)?\s+(?:level|line|limit|test|rule)",
    re.IGNORECASE,
)
_OF_INTERVAL = re.compile(r"\b(?:interval|limits|bounds|ci)\b", re.IGNORECASE)
_OF_RATIO = re.compile(r"\b(?:odds|risk|ratio|RR|OR)\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"(?:\binside|\boutside|\bwithin|\bbetween|\bbeyond|\bcould\b|\bmiss|\bright\s+of|\bleft\s+of|\bacross|\bsides?\s+of\b|\bamong\b|\bcompatible\b|\bexclude)",
    re.IGNORECASE,
)
_BESIDE_ONE = re.compile(
    r"\b(?:intervals?|limits?|bounds?|ends?)\b.*\b(?:exceeds?|above|below|under|over|than|beyond|takes?\s+in|in|out)\s*$"
    r"|\bodds\b.*\bto\s*$",
    re.IGNORECASE,
)
_CONFIDENT = re.compile(r"\bconfidence\b|\binterval\b", re.IGNORECASE)
_DEGREES = re.compile(r"(?:\u03c7|\bchi\b|\bx\s*\^?(?:2|\u00b2))[^;,]*\(\s*$", re.IGNORECASE)


def fixed_role(number: WrittenNumber, before: str, after: str, text: str) -> NumberRole | None:
    """Return what a number is that its sentence uses as a yardstick."""
    share = number.value / 100 if number.unit is Unit.PERCENT else number.value
    bracketed = number.unit is Unit.PERCENT and before.rstrip().endswith("(")
    cues = (
        (NumberRole.LEVEL, share in _USUAL_LEVELS and starts_of(_MARK_TEXT, text)),
        (NumberRole.LEVEL, share in _CONFIDENCES and bracketed and starts_of(_CONFIDENT, text)),
        (NumberRole.NEUTRAL, _is_one(number) and _beside_no_difference(text)),
        (NumberRole.NEUTRAL, _is_one(number) and _BESIDE_ONE.search(before)),
        (NumberRole.FREEDOM, number.whole and _DEGREES.search(before) and after[:1] in {")", ","}),
    )
    return next((role for role, present in cues if present), None)


def _beside_no_difference(text: str) -> bool:
    """Tell whether a sentence says where an interval of a ratio lies."""
    return all(starts_of(pattern, text) for pattern in (_OF_INTERVAL, _OF_RATIO, _BESIDE))


def _is_one(number: WrittenNumber) -> bool:
    return number.value == 1.0 and number.step >= COARSE
