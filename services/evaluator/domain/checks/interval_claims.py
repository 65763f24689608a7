"""What a sentence claims of an interval or an estimate: where it lies beside no difference.

As with evidence, a claim is an anchor ("contains", "outside", "above") and what turns it round.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from services.evaluator.domain.checks.evidence_words import NOT, plainly
from services.evaluator.domain.checks.wording import Wording

NULL_VALUE = "nullvalue"
_NAMED_NULL = re.compile(
    r"\b(?:the\s+|a\s+)?(?:value|point|possibility|line|hypothesis|ratio|position)\s+(?:of|at)\s+(?:no\s+(?:difference|effect|association|disparity)|equality|parity|unity|equal\s+\w+)\b"
    r"|\bno\s+(?:difference|effect|association|disparity)(?:\s+at\s+all)?\b(?=\s+(?:is|was|remains?|stays?|as|among|within|inside|outside|can|could|lies?|falls?|cannot|[.,;)]|$)|\s*$)"
    r"|(?<=\bwith\s)no\s+(?:difference|effect|association|disparity)\b|(?<=\b(?:clud|over|tain|ross)\w\w\s)no\s+(?:difference|effect|association)\b"
    r"|\b(?:the\s+)?(?:null(?:\s+value)?|neutral\s+value|unity|parity|equality|equal\s+(?:odds|risks?|rates))\b(?:\s+of\s+(?=<n|one\b|1))?"
)
_ONE = re.compile(
    r"\b(?:one|zero)\b(?!\s+(?:of|side|end|another|in|group|or|might|may|can|cannot|has|would|such|time|which|thing|below\s+<n\d+>\s+to)\b)(?![\s-]+\w+s\b(?<!is)(?<!lies)(?<!falls)(?<!remains))"
)
_HAS = re.compile(
    r"\b(?:(?:includ|contain|cover|cross|span|straddl|encompass|overlap|enclos|comprehend|embrac|bracket|captur|accommodat|touch|admit|permit|allow)\w*"
    r"|(?:tak(?:e|es|ing)|took)\s+in|pass(?:es|ed|ing)?\s+(?:through|over)|reach(?:es|ed|ing)?|holds?|extend(?:s|ing)?\s+(?:across|past|over)|goes\s+(?:across|through)|runs?\s+(?:across|through|over)"
    r"|with?in|inside|in\s+between|between|among(?:st)?|amid|part\s+of|belongs?\s+to|compatible|consistent|plausible|possible|tenable|covered|in\s+the\s+(?:interval|range)"
    r"|(?:either|both|opposite|different)\s+sides?|across|could\s+be|can\s+be|might\s+be|may\s+be|in\s+play|not\s+ruled\s+out)\b"
)
_LACKS = re.compile(
    r"\b(?:(?:exclud|omit|avoid)\w*|rul(?:e|es|ed|ing)\s+out|le(?:ave|aves|aving|ft)\s+(?:<|nullvalue\s+)?out(?:side)?|leav\w+\s+nullvalue|leaves?\s+out|miss(?:es|ed|ing)?|(?:clear|free|short|well\s+clear)\s+of|away\s+from|outside|beyond|off"
    r"|(?:the\s+same|one|a\s+single)\s+side)\b"
)
_ABOVE = r"above|over(?!\s+(?:the\s+whole|all|its))|greater\s+than|larger\s+than|higher\s+than|more\s+than|bigger\s+than|exceed\w*|in\s+excess\s+of|(?:to\s+the\s+)?right\s+of|upwards\s+of|surpass\w*|upper\s+side\s+of"
_BELOW = r"below|under|beneath|less\s+than|smaller\s+than|lower\s+than|(?:to\s+the\s+)?left\s+of|(?:short|shy)\s+of|undercut\w*"
_SIDE = re.compile(rf"\b(?:(?P<above>{_ABOVE})|(?P<below>{_BELOW}))\s+(?:the\s+)?{NULL_VALUE}\b")
_BOTH_SIDES = re.compile(
    rf"\b(?:{_BELOW})\s+{NULL_VALUE}[^;]*?\b(?:{_ABOVE})\b|\b(?:{_ABOVE})\s+{NULL_VALUE}[^;]*?\b(?:{_BELOW})\b"
    rf"|\b(?:{_BELOW})\b[^;]*?\b(?:{_ABOVE})\s+(?:{NULL_VALUE}|it)\b"
)
_LOWER = re.compile(
    r"\b(?:lower|low|smallest|lowest|left|bottom)[\s-]+(?:[\w<>]+\s+)?(?:bound|limit|end|edge|value|endpoint|estimate)\b"
)
_UPPER = re.compile(
    r"\b(?:upper|high|largest|highest|right|top)[\s-]+(?:[\w<>]+\s+)?(?:bound|limit|end|edge|value|endpoint|estimate)\b"
)
_WHOLE = re.compile(
    r"\bintervals?\b|\b(?:both|two)\s+(?:bounds|limits|ends|edges)|\bbounds\b|\blimits\b|\bends\b|\bci\b|\brange\b|\bentire\w*|\bwholly\b|\bwhole\b"
    r"|\bcompletely\b|\ball\s+(?:the\s+|of\s+the\s+)?(?:plausible\s+|compatible\s+)?values\b|\bthroughout\b|\bevery\s+value"
)
_POINT = re.compile(r"\bestimates?\b|\bpoint\b")
_TOLD = re.compile(
    r"\bintervals?\b|\bci\b|\brange\b|\bbounds?\b|\blimits?\b|\bcompatible\b|\bplausible\b|\bvalues\b|\bruled\s+out\b|\bexclude|\bends?\b|\bit\b|\bwhich\b|\bboth\b"
)
_GENERAL = re.compile(
    r"^(?:if|when|had|were|suppose|whether)\b|\bif\b|\bwould\b|\b(?:an?|any)\s+(?:<m:[\w-]+>|ratio|value|difference|interval)\s+(?:that\s+\w+\s+|which\s+\w+\s+)?(?:above|below|greater|less|larger|smaller|over|under|includes?|contain|equal)"
    r"|\bwhether\b|\b(?:further|closer|nearer|farther)\b"
)
_CLAUSE = re.compile(
    r";|,?\s+\b(?:but|whereas|while|although|though|however|yet|because|so)\b|,\s+|:\s+(?!(?:yes|no)\b)"
)
_ASIDE = re.compile(
    rf"(?<={NULL_VALUE})\s*,\s*(?:that\s+is,?|which|i\.e\.,?|meaning|or)\s+[^,;]*,|\([^()]*\)"
)
_ANSWER = re.compile(r":\s*(yes|no)\b")


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


def claimed_positions(wording: Wording) -> Iterator[ClaimedPosition]:
    """Return what a sentence says of where intervals and estimates lie."""
    pattern = _ASIDE.sub(" ", _with_null(wording.pattern, wording))
    told = bool(_TOLD.search(pattern))
    if NULL_VALUE not in pattern or not (told or _SIDE.search(pattern)):
        return
    at = 0
    ends = [(each.start(), each.end()) for each in _CLAUSE.finditer(pattern)]
    for start, end in [*ends, (len(pattern), len(pattern))]:
        clause = pattern[at:start]
        found = _claim_of(clause, told=told)
        supposed = found and found[0] is ClaimedPart.ESTIMATE and "would" in pattern
        if found and not supposed and not _GENERAL.search(clause):
            before, after = pattern[:start], pattern[start:]
            yield ClaimedPosition(*found, _measures(before), _measures(after), before)
        at = end


def _measures(text: str) -> Sequence[str]:
    return re.findall(r"<m:([\w-]+)>", text)


def _with_null(text: str, wording: Wording) -> str:
    """Return a text with one word for the value of no difference."""

    def named(found: re.Match[str]) -> str:
        number = wording.numbers[int(found[1])]
        neutral = number.value in {0.0, 1.0} and number.step >= 0.1 and number.unit == "plain"
        return NULL_VALUE if neutral else found[0]

    text = _NAMED_NULL.sub(NULL_VALUE, text)
    text = _ONE.sub(NULL_VALUE, re.sub(r"<n(\d+)>", named, text))
    return re.sub(rf"{NULL_VALUE}(?:\s*,?\s*\(?{NULL_VALUE}\)?)+", NULL_VALUE, text)


def _claim_of(clause: str, *, told: bool) -> tuple[ClaimedPart, IntervalClaim, bool] | None:
    if NULL_VALUE not in clause:
        return None
    answer = _ANSWER.search(clause)
    plain = plainly(_ANSWER.sub(" ", clause))
    turns = len(NOT.findall(plain)) + (answer is not None and answer[1] == "no")
    if _BOTH_SIDES.search(plain):
        return ClaimedPart.INTERVAL, IntervalClaim.CONTAINS, turns % 2 == 1
    if side := _SIDE.search(plain):
        claim = IntervalClaim.ABOVE if side["above"] else IntervalClaim.BELOW
        return _part(plain[: side.start()], plain), claim, turns % 2 == 1
    lacks = _LACKS.search(plain)
    if not told or not (lacks or _HAS.search(plain)):
        return None
    contains = (turns + (lacks is not None)) % 2 == 0
    return ClaimedPart.INTERVAL, _CONTAINS[contains], False


_CONTAINS = {True: IntervalClaim.CONTAINS, False: IntervalClaim.EXCLUDES}


def _part(before: str, plain: str) -> ClaimedPart:
    lower, upper = _LOWER.search(before), _UPPER.search(before)
    if lower and upper:
        return ClaimedPart.INTERVAL
    if lower or upper:
        return ClaimedPart.LOWER if lower else ClaimedPart.UPPER
    if _WHOLE.search(plain) and not _POINT.search(before):
        return ClaimedPart.INTERVAL
    return ClaimedPart.ESTIMATE
