"""What a sentence says of measures: one against another, the table against its strata."""

import re
from collections.abc import Iterator
from math import log

from biaswatch.services.evaluator.domain.checks.comparison_words import (
    COMPARATIVE,
    LESS,
    NEGATED,
    PRECISION,
    STRATA,
    THAN,
)
from biaswatch.services.evaluator.domain.checks.plain_negation import NOT, plainly
from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.services.evaluator.domain.subjects import measure_of
from biaswatch.shared.contracts import Subject

_OF_MEASURES = re.compile(
    rf"<m:(?P<a>[\w-]+)>(?P<not>[^;<]*?){COMPARATIVE}[^;<]*?(?:{THAN}\s+)?(?:those\s+of\s+"
    rf"|that\s+of\s+|the\s+|its\s+)*<m:(?P<b>[\w-]+)>"
)
_TURNED = re.compile(
    r"\b(?:revers\w+|(?:turn|flip|invert|swap)(?:s|ed|ing)?\b(?!\s+out)|opposite|(?:the\s+)?other\s+(?:way|direction)|contrary|one\s+(?:group|side)?\b[^;]*\bthe\s+other\b|inverts?|inverted|inversion|upside\s+down|other\s+side|depend\w*\s+on\s+(?:whether|which|the\s+choice|one)|runs?\s+counter|counter\s+to|disagree\w*|contradict\w*|conflict\w*|different\s+direction|differ(?:s|ed|ent)?|overturn\w*|invers\w*|backwards?|swing\w*|paradox)\b"
)
_CHANGED = re.compile(
    r"\b(?:chang\w+|alter\w*|affect\w*)\b[^;]*\b(?:directions?|signs?|sides)\b|\bdirections?\b[^;]*\b(?:chang\w+|alter\w*)"
)
_EXTREME = re.compile(
    r"\b(?P<more>further|farther|(?:more|stronger)\s+(?:extreme|pronounced)|exaggerat\w+|overstat\w+|(?:depart|deviat|differ)\w*\s+more|stronger)\b"
    r"|\b(?P<less>closer|nearer|less\s+(?:extreme|pronounced)|milder|(?:depart|deviat|differ)\w*\s+less|weaker)\b"
)
_BESIDE = re.compile(
    r"\b(?:than|compared\s+(?:with|to)|relative\s+to|against|to)\s+(?:by\s+)?(?:the\s+|that\s+of\s+|those\s+of\s+)*$"
)
_KEPT = re.compile(
    r"\b(?:same|persist\w*|surviv\w*|remains?|unchanged|holds?|(?:keep|keeps|kept(?!\s+apart)|retain|retains|preserv\w+|maintain\w*)|unaffected|as\s+it\s+was|agree\w*|unaltered|intact|untouched|as\s+(?:it|they)\s+(?:is|was|are|were)|bears?\s+out|borne\s+out|as\s+well|too|also|likewise|again|still|match\w*|consistent|mirror\w*|in\s+line|echo\w*|confirm\w*|endur\w+|stands?|stable|identical|carr(?:y|ies)\s+over|reproduc\w+|repeat\w*|upheld)\b"
)
_WEAKER = re.compile(
    r"\b(?:weaker|weakens?|shrinks?|attenuated?s?|closer\s+to\s+(?:<n\d+>|1|one))\b"
)
_STRONGER = re.compile(r"\b(?:stronger|strengthens?|grows?|further\s+from\s+(?:<n\d+>|1|one))\b")


_OF_TWO = re.compile(
    rf"<m:(?P<a>odds_ratio|relative_risk)>\s+(?:is|was)\s+the\s+{COMPARATIVE}(?:\s+one\b|\s+of\s+the\s+two\b)"
)


def measure_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where two measures, or the table and its strata, are compared wrongly."""
    extremes = _EXTREME.search(wording.pattern)
    for match in [] if extremes else _OF_MEASURES.finditer(wording.pattern):
        a, b = (measure_of(subject, match[side]) for side in "ab")
        if (
            not a
            or not b
            or a.value is None
            or b.value is None
            or a.no_difference != b.no_difference
        ):
            continue
        if PRECISION.search(match["not"]) or NEGATED.search(match["not"]):
            continue
        more = not re.fullmatch(LESS, match["comp"])
        if (a.value > b.value) is not more and a.value != b.value:
            yield "direction", f"The {a.label} and the {b.label} are compared the wrong way round."
    yield from _of_two(wording, subject)
    yield from _extremes(wording, subject)
    yield from _ratios_agree(wording, subject)
    yield from _strata(wording, subject)


def speaks_of_measures(wording: Wording) -> bool:
    """Tell whether a sentence is read as comparing measures, or the table with its strata."""
    return any(pattern.search(wording.pattern) for pattern in (_OF_MEASURES, _OF_TWO, STRATA)) or (
        _EXTREME.search(wording.pattern) is not None and bool(_ratios_named(wording))
    )


def _of_two(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where one of the two ratios is called the larger and is the smaller."""
    odds, risk = (measure_of(subject, name) for name in ("odds_ratio", "relative_risk"))
    match = _OF_TWO.search(wording.pattern)
    if not match or not odds or not risk or odds.value is None or risk.value is None:
        return
    larger = odds.value > risk.value if match["a"] == "odds_ratio" else risk.value > odds.value
    if larger is bool(re.fullmatch(LESS, match["comp"])) and odds.value != risk.value:
        yield "direction", "The odds ratio and the relative risk are compared the wrong way round."


def _ratios_named(wording: Wording) -> list[re.Match[str]]:
    return list(re.finditer(r"<m:(odds_ratio|relative_risk)>", wording.pattern))


def _extremes(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where the wrong one of the two ratios is said to be further from one."""
    match, named = _EXTREME.search(wording.pattern), _ratios_named(wording)
    own = [
        name_match
        for name_match in named
        if not _BESIDE.search(wording.pattern[: name_match.start()])
    ]
    if not match or not own or STRATA.search(wording.pattern) or PRECISION.search(wording.pattern):
        return
    odds, risk = (measure_of(subject, name) for name in ("odds_ratio", "relative_risk"))
    if not odds or not risk or not odds.value or not risk.value:
        return
    of_odds, of_risk = abs(log(odds.value)), abs(log(risk.value))
    denied = len(NOT.findall(plainly(wording.pattern))) % 2 == 1
    more = (match["more"] is not None) is not denied
    true = (of_odds > of_risk) is ((own[0][1] == "odds_ratio") is more)
    if not true and of_odds != of_risk:
        yield "direction", "The wrong ratio is said to be further from one."


_ANSWERED = re.compile(r"[:*\s]+(?=(?:not|no|none|absent)\b)")
_BOTH_RATIOS = re.compile(
    r"\bone\s+ratio\b|\b(?:the|both|these|our)\s+(?:two\s+)?(?:ratios|measures|estimates)\b|<m:odds_ratio>[^;.]*<m:relative_risk>|<m:relative_risk>[^;.]*<m:odds_ratio>"
)
_WAYS = re.compile(
    r"\b(?:directions?|sides?|ways?|signs?|contradict\w*|agree\w*|disagree\w*|conflict\w*|which\s+group|who|favou?rs?|ahead|higher|lower|leads?|larger|smaller|better|worse)\b"
)


def _ratios_agree(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where the two ratios are said to point apart and do not, or the other way."""
    pattern = wording.pattern
    if not _BOTH_RATIOS.search(pattern) or not _WAYS.search(pattern) or STRATA.search(pattern):
        return
    values = [
        measure.value
        for name in ("odds_ratio", "relative_risk")
        if (measure := measure_of(subject, name)) and measure.value
    ]
    if len(values) < 2 or 1 in values or "in conflict" in " ".join(subject.notes):
        return
    same_side = (values[0] > 1) is (values[1] > 1)
    plain = plainly(pattern)
    denied = len(NOT.findall(plain)) % 2 == 1
    turned, kept = bool(_TURNED.search(plain)), bool(_KEPT.search(plain))
    if turned is not kept and (turned is denied) is not same_side:
        yield "direction", "Which way the two ratios point is not what the statistics say."


def _strata(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    both = (measure_of(subject, name) for name in ("odds_ratio", "odds_ratio_within"))
    values = [measure.value for measure in both if measure and measure.value and measure.value > 0]
    if len(values) < 2 or not STRATA.search(wording.pattern):
        return
    statement = _ANSWERED.sub(" ", wording.pattern)
    first = statement.split(":")[0]
    pattern = (
        first if "paradox" in first and "paradox:" in statement.replace("* *", "") else statement
    )
    crude, within = map(log, values)
    turned, weaker = crude * within < 0, abs(within) < abs(crude)
    claims = {
        so
        for clause in re.split(r"[;:]|, (?=it |this |but |and |which |rather )", pattern)
        for so in _said_of_strata(clause, turned, weaker)
    }
    if claims == {False}:
        yield "strata", "What strata change is not what the statistics say."


def _said_of_strata(clause: str, turned: bool, weaker: bool) -> Iterator[bool]:
    """Return whether what a clause says of strata is so."""
    plain = plainly(clause)
    odd = len(NOT.findall(plain)) % 2 == 1
    for words, true in (
        (_TURNED, turned),
        (_CHANGED, turned),
        (_KEPT, not turned),
        (_WEAKER, weaker),
        (_STRONGER, not weaker),
    ):
        if words.search(plain):
            yield odd is not true
            return
