"""What a sentence says of one group minus, or divided by, the other: above no difference, or below.

"The mean of A minus that of B is positive", "dividing the odds of A by those of B gives more than
one" and "a ratio above 1 would mean a higher rate for A" all say who has more.
"""

import re
from collections.abc import Iterator

from biaswatch.services.evaluator.domain.checks.compared_groups import compared_groups
from biaswatch.services.evaluator.domain.checks.interval_claims import with_null
from biaswatch.services.evaluator.domain.checks.interval_words import ABOVE, BELOW, NULL_VALUE
from biaswatch.services.evaluator.domain.checks.wording import Wording

_GAP = r"(?:(?!<g)[^;]){0,60}?"
_BY = r"(?:minus|divided by|over|by|and then take away|from which)"
_RESULT = rf"[^;]*?\b(?:(?P<above>{ABOVE} (?:the )?{NULL_VALUE}|positive)|(?P<below>{BELOW} (?:the )?{NULL_VALUE}|negative))(?!\w)"
_FORWARD = re.compile(
    rf"(?:\b(?:divid|tak|put)\w*{_GAP})?<g(?P<one>[01])>{_GAP}\b{_BY} {_GAP}<g(?P<two>[01])>{_RESULT}"
)
_NUMERATOR = re.compile(
    rf"<g(?P<one>[01])> (?:is |are |placed |put |set )?(?:in|as|on) (?:the )?(?:numerator|top)\b{_RESULT}"
)
_BACKWARD = re.compile(
    rf"\bsubtract\w*{_GAP}<g(?P<two>[01])>{_GAP}\bfrom {_GAP}<g(?P<one>[01])>{_RESULT}"
)
_READING = re.compile(
    rf"(?:<m:(?:odds_ratio|relative_risk|odds_ratio_within|odds_ratio_adjusted|risk_difference|gap)>|\b(?:ratio|difference|gap|value|number|one)\b)[^;<]*?"
    rf"\b(?:(?P<above>{ABOVE} (?:the )?{NULL_VALUE}|positive)|(?P<below>{BELOW} (?:the )?{NULL_VALUE}|negative))[^;]*?"
    r"\b(?:mean(?:s|ing)?|indicat\w+|impl(?:y|ies)|sa(?:y|ys|ying)|signal\w*|signif(?:y|ies)|correspond\w*|show\w*|tells?|speaks?|stands? for|denot\w+|express\w*|points?|would|says?)\b(?P<said>[^;]*)"
)
_OTHER_ORDER = re.compile(
    r"<g0> (?:as|is|in|serves|serving|forms) (?:the |a |its )?(?:reference|baseline|denominator|standard|comparison)|<g1> (?:relative to|over|versus|compared with) (?:the )?<g0>"
)


def arithmetic_signs(wording: Wording) -> Iterator[int]:
    """Return the sign of first minus second group that a result of arithmetic states."""
    pattern = with_null(wording.pattern, wording)
    for rule in (_BACKWARD, _FORWARD, _NUMERATOR):
        match = rule.search(pattern)
        if match and match["one"] != match.groupdict().get("two"):
            sign = 1 if match["one"] == "0" else -1
            yield -sign if match["below"] else sign
            return


def reading_faults(wording: Wording) -> Iterator[tuple[str, str]]:
    """Return a fault where a ratio above its value of no difference is read the wrong way round."""
    pattern = with_null(wording.pattern, wording)
    match = _READING.search(pattern)
    if not match or _OTHER_ORDER.search(pattern) or "<g" in pattern[: match.start()]:
        return
    for claim in compared_groups(match["said"])[:1]:
        more = (claim.group == 0) is claim.more
        if more is (match["below"] is not None):
            yield "direction", "A ratio or difference is read the wrong way round."
