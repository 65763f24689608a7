"""What a sentence claims of an interval or an estimate: where it lies beside no difference.

A claim has three parts: what is spoken of (the interval, one of its ends, any of its values, the
estimate), how it stands to the value of no difference (has it, lacks it, lies above or below), and
what denies it. `interval_words` has a table for each; any word combines with any other.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from biaswatch.services.evaluator.domain.checks.interval_words import (
    ABOVE,
    BELOW,
    DOWN_TO,
    GENERAL,
    GOES,
    HAS,
    LACKS,
    LOWER,
    NAMED_NULL,
    NULL_VALUE,
    ONE,
    POINT,
    SOME,
    TOLD,
    UP_TO,
    UPPER,
    WHOLE,
)
from biaswatch.services.evaluator.domain.checks.plain_negation import NOT, plainly
from biaswatch.services.evaluator.domain.checks.wording import Wording

_TO_NULL = rf" (?:the |a |that )?(?:value (?:of )?)?{NULL_VALUE}(?!\w)"
_SIDE = re.compile(rf"(?<!\w)(?:(?P<above>{ABOVE})|(?P<below>{BELOW})){_TO_NULL}")
_EXTENT = re.compile(rf"(?<!\w)(?:(?P<down>{DOWN_TO})|(?P<up>{UP_TO})){_TO_NULL}")
_NULL_BESIDE = re.compile(
    rf"{NULL_VALUE} (?:itself )?(?:is|lies|falls|sits|stands|remains|stays|was|lay) (?:\w+ ){{0,2}}?"
    rf"(?:(?P<above>{ABOVE})|(?P<below>{BELOW})) (?:the |its |both |all |whole |entire |of |this |that )*"
    r"(?:<n\d+> )?(?:confidence |lower |upper )*(?:interval|limits?|bounds?|range|ends?|<m:|it\b)"
)
"""The other way round: "one lies below the interval"."""
_BOTH_SIDES = re.compile(
    rf"(?<!\w){BELOW} {NULL_VALUE}[^;]*?(?<!\w){ABOVE}(?!\w)|(?<!\w){ABOVE} {NULL_VALUE}[^;]*?(?<!\w){BELOW}(?!\w)"
    rf"|(?<!\w){BELOW}(?!\w)[^;]*?(?<!\w){ABOVE} (?:{NULL_VALUE}|it)(?!\w)"
    rf"|(?<!\w){ABOVE}(?!\w)[^;]*?(?<!\w){BELOW} (?:{NULL_VALUE}|it)(?!\w)"
)
_SHORT_OF = re.compile(
    rf"(?:falls?|fell|falling|stops?|stay|stays)? ?(?:short|shy) of(?={_TO_NULL})"
)
_CLAUSE = re.compile(
    r";|,? (?:but|whereas|while|although|though|however|yet|because|so)\b|, |: (?!(?:yes|no)\b)"
)
_ASIDE = re.compile(
    rf"(?<={NULL_VALUE}) ?, (?:that is,?|which|i\.e\.,?|meaning|or|(?:for|at|in|under|to) which|where|when|namely|marking|representing|corresponding to|the) [^,;]*,|\([^()]*\)"
)
_SO_IS = re.compile(
    rf"(?P<side>{ABOVE}|{BELOW}) {NULL_VALUE} ?,? (?:and|as) (?:so )?(?:is|are|does|do|lies|was) (?P<part>(?:even )?(?:the|its|both|every|each|all)[^,;.]*)"
)
"""What is said of one is said of the other: "is above one, and so is the lower limit"."""
_OTHER_END = re.compile(
    rf"(?<!\w)(?:{BELOW} {NULL_VALUE}[^;]*?\bother\b[^;]*?(?<!\w){ABOVE}|{ABOVE} {NULL_VALUE}[^;]*?\bother\b[^;]*?(?<!\w){BELOW})(?!\w)"
)
"""One end on the one side, the other on the other."""
_LED = re.compile(
    r"^(?P<led>\W*(?:among|amongst|within|inside|in|of|outside|beyond)\b[^,;]*), (?!<m|the <m|its)"
)
"""Where something lies, said before what lies there."""
_OR_LESS = re.compile(
    rf"{NULL_VALUE} (?:or|and) (?:(?P<less>less|below|lower|smaller|under|beneath)|(?P<more>more|above|higher|greater|larger|over))\b"
)
_APPOSED = re.compile(
    rf"{NULL_VALUE}\s*,\s*{NULL_VALUE}\s*,\s*(?P<verb>(?:is|was|lies|falls|sits|stands|stays|remains|can|could|cannot|may)\b)"
)
"""The value, and once more its number, before a verb: "the null value, 1, is"."""
_UNDER_HYPOTHESIS = re.compile(
    r"\bunder (?=(?:the |a |an |this )?(?:null(?!value)|hypothesis|assumption|supposition|premise|possibility|case|no ))"
)
"""Supposes something; lies below nothing."""
_INTERVAL = re.compile(
    r"\b(?:intervals?|ci|bounds?|limits?|ends?|range|values?|it|band|span|confined)\b"
)
_ANSWER = re.compile(r": (yes|no)\b")
_SUPPOSED = re.compile(r"^(?:if|when|had|were|suppose|whether)\b")


class IntervalClaim(StrEnum):
    """Where something is said to lie."""

    CONTAINS = "contains the value of no difference"
    EXCLUDES = "does not contain the value of no difference"
    ABOVE = "above it"
    BELOW = "below it"


class ClaimedPart(StrEnum):
    """What of a measure is said to lie somewhere."""

    INTERVAL = "interval"
    LOWER = "lower bound"
    UPPER = "upper bound"
    ESTIMATE = "value"


@dataclass(frozen=True)
class ClaimedPosition:
    """That a part of a measure lies, or does not lie, somewhere."""

    part: ClaimedPart
    claim: IntervalClaim
    denied: bool
    named: Sequence[str]
    """The measures named up to the end of the clause that says so."""
    named_after: Sequence[str]
    before: str
    """The sentence up to there."""


Claim = tuple[ClaimedPart, IntervalClaim, bool]
"""A part, where it lies, and whether that is denied."""


def claimed_positions(wording: Wording) -> Iterator[ClaimedPosition]:
    """Return what a sentence says of where intervals and estimates lie."""
    pattern = _ASIDE.sub(" ", with_null(wording.pattern, wording))
    pattern = with_null(" ".join(pattern.split()), wording)
    is_statement = bool(TOLD.search(pattern))
    if NULL_VALUE not in pattern or not (is_statement or _SIDE.search(pattern)):
        return
    pattern = _SO_IS.sub(rf"\g<side> {NULL_VALUE} ; \g<part> is \g<side> {NULL_VALUE}", pattern)
    pattern = _LED.sub(r"\g<led> ", pattern)
    if _OTHER_END.search(pattern) and not _SUPPOSED.search(pattern):
        pattern = _OTHER_END.sub(f"on both sides of {NULL_VALUE}", pattern)
    at = 0
    ends = [(match.start(), match.end()) for match in _CLAUSE.finditer(pattern)]
    for start, end in [*ends, (len(pattern), len(pattern))]:
        clause = pattern[at:start]
        claim = _claim_of(clause, is_statement=is_statement)
        supposed = claim and claim[0] is ClaimedPart.ESTIMATE and "would" in pattern
        general = _SUPPOSED.search(clause) or GENERAL.search(clause)
        if claim and not supposed and not general:
            before, after = pattern[:start], pattern[start:]
            named = _measures(before), _measures(after)
            if not any(named):  # only an aside names the measure
                named = _measures(wording.pattern), ()
            yield ClaimedPosition(*claim, *named, before)
        at = end


def compares_with_no_difference(wording: Wording) -> bool:
    """Tell whether a sentence sets an interval or a ratio beside its value of no difference."""
    pattern = with_null(wording.pattern, wording)
    if NULL_VALUE not in pattern:
        return False
    near_null = any(rule.search(pattern) for rule in (_SIDE, _EXTENT, _NULL_BESIDE))
    return near_null or bool(
        TOLD.search(pattern) and (HAS.search(pattern) or LACKS.search(pattern))
    )


def with_null(text: str, wording: Wording) -> str:
    """Return a text with one word for the value of no difference."""

    def named(match: re.Match[str]) -> str:
        number = wording.numbers[int(match[1])]
        neutral = number.value in {0.0, 1.0} and number.step >= 0.1 and number.unit == "plain"
        return NULL_VALUE if neutral else match[0]

    text = NAMED_NULL.sub(NULL_VALUE, _UNDER_HYPOTHESIS.sub("supposing ", text))
    text = ONE.sub(NULL_VALUE, re.sub(r"<n(\d+)>", named, text))
    text = _APPOSED.sub(rf"{NULL_VALUE} \g<verb>", text)
    return re.sub(rf"{NULL_VALUE}(?:\s*,?\s*\(?{NULL_VALUE}\)?)+", NULL_VALUE, text)


def _measures(text: str) -> Sequence[str]:
    return re.findall(r"<m:([\w-]+)>", text)


def _claim_of(clause: str, *, is_statement: bool) -> Claim | None:
    if NULL_VALUE not in clause:
        return None
    answer = _ANSWER.search(clause)
    plain = plainly(_SHORT_OF.sub("below", _ANSWER.sub(" ", clause)))
    turned = (len(NOT.findall(plain)) + (answer is not None and answer[1] == "no")) % 2 == 1
    if _BOTH_SIDES.search(plain):
        return ClaimedPart.INTERVAL, IntervalClaim.CONTAINS, turned
    if match := _NULL_BESIDE.search(plain):
        claim = IntervalClaim.BELOW if match["above"] else IntervalClaim.ABOVE
        return ClaimedPart.INTERVAL, claim, turned
    lacks, values = LACKS.search(plain), _OR_LESS.search(plain)
    if lacks and values:
        claim = IntervalClaim.ABOVE if values["less"] else IntervalClaim.BELOW
        return ClaimedPart.INTERVAL, claim, turned
    if extent := _EXTENT.search(plain):
        down = extent["down"] is not None
        part = ClaimedPart.LOWER if down else ClaimedPart.UPPER
        return part, IntervalClaim.BELOW if down else IntervalClaim.ABOVE, turned
    if side := _SIDE.search(plain):
        claim = IntervalClaim.ABOVE if side["above"] else IntervalClaim.BELOW
        return _part(clause, plain[: side.start()], plain, claim, turned), claim, turned
    return _claim_of_value(clause, plain, lacks, turned) if is_statement else None


def _claim_of_value(
    clause: str, plain: str, lacks: re.Match[str] | None, turned: bool
) -> Claim | None:
    """Read whether an interval has the value of no difference."""
    if lacks and "side" in lacks[0] and not _INTERVAL.search(clause):
        return None  # two estimates on one side are no interval
    if not (lacks or HAS.search(plain)):
        return None
    contains = turned is (lacks is not None)
    return ClaimedPart.INTERVAL, _CONTAINS[contains], False


_CONTAINS = {True: IntervalClaim.CONTAINS, False: IntervalClaim.EXCLUDES}


def _part(clause: str, before: str, plain: str, claim: IntervalClaim, turned: bool) -> ClaimedPart:
    """Return what is said to lie on a side; any value lies there if the nearest end does."""
    lower, upper = LOWER.search(before), UPPER.search(before)
    if lower and upper:
        return ClaimedPart.INTERVAL
    if lower or upper:
        return ClaimedPart.LOWER if lower else ClaimedPart.UPPER
    if not WHOLE.search(plain) or POINT.search(before):
        return ClaimedPart.ESTIMATE
    goes = GOES.search(before) and "entire" not in plain
    if goes or (turned and SOME.search(clause)):
        return ClaimedPart.UPPER if claim is IntervalClaim.ABOVE else ClaimedPart.LOWER
    return ClaimedPart.INTERVAL
