"""What a clause claims of evidence: that something is shown, that it is not, or that groups are equal.

A claim is an anchor ("significant", "chance", "the null hypothesis", "evidence of a difference")
and what turns it round: every denial, and words like "beyond chance" or "against equality". Two
that turn it round leave it as it was. Clauses whose anchors contradict one another claim nothing
that could be checked.
"""

import re
from collections.abc import Callable
from enum import StrEnum

from biaswatch.services.evaluator.domain.checks.equality_claims import (
    cautions,
    claims_equality,
    proves_equality,
)
from biaswatch.services.evaluator.domain.checks.evidence_words import (
    AGAINST,
    BEYOND,
    CAUSES,
    CHANCE,
    DESCRIPTIVE,
    DIFFERENCE,
    EVIDENCE,
    EXPLAINED,
    FINDS,
    FOR,
    GENERAL,
    NULL,
    NULL_FINDING,
    OPEN,
    REAL,
    STRONG,
    SUPPOSED,
    UNTOLD,
)
from biaswatch.services.evaluator.domain.checks.phrases import phrases_of
from biaswatch.services.evaluator.domain.checks.plain_negation import denied, plainly
from biaswatch.services.evaluator.domain.checks.significance_words import (
    COMMON,
    LESS_SIGN,
    MORE_SIGN,
    NO_FINDING,
    OF_SIZE,
    OVER,
    P_VALUE,
    PASSES_TEST,
    RARE,
    SIGNIFICANT,
    UNDER,
    UNDER_NULL,
    WITHSTANDS,
)


class EvidenceClaim(StrEnum):
    """What is said of evidence."""

    SHOWN = "shown"
    NOT_SHOWN = "not shown"
    EQUAL = "equal"


CLAUSE_END = re.compile(
    r";|,? \b(?:but|whereas|while|although|though|however|yet|because|so that|given that)\b"
    r"|, (?:and|so|which|since|hence|therefore|thus)\b|: (?!(?:yes|no|not|none|absent)\b)| \u2013 "
)
_ANSWER = re.compile(r"^(?P<asked>[^;:]{3,90}): ?(?P<yes>yes|no)\b(?! \w+)")
"""A question that is answered in a word: "significant: yes"."""
_ASKED = phrases_of(
    r"significan\w+|reject\w*|differ\w*|detect\w*|evidence|reached|met|passed|cleared"
)
_OPPOSITE = {
    EvidenceClaim.SHOWN: EvidenceClaim.NOT_SHOWN,
    EvidenceClaim.NOT_SHOWN: EvidenceClaim.SHOWN,
    EvidenceClaim.EQUAL: EvidenceClaim.SHOWN,
}
_ASIDE = re.compile(
    r"(?:,|^\W*) ?(?:at|by|on|in|under|given|for|with|per|using|according to|judging by|going by|judged by|based on"
    r"|as|to|from|after|within|relative to|measured|i\.e\.,?|that is,?|however|therefore|thus|indeed|of course|again|then|in fact|overall|here)"
    r"(?: (?!not\b|no\b|chance\b|<g)[^,; ]+){0,9},|\([^()]*\)"
)
_CONCESSION = re.compile(
    r", (?:though|although|albeit|while|even if|if|however) (?:(?!<g)[^,;]){1,60},(?= (?:could|can|may|might|is|was|does|did|has|had|falls?|fails?|remains?|would|must|should|cannot|do|are|were)\b)"
)
"""What is conceded between a subject and its verb."""
_LABEL = phrases_of(
    r"\W*(?:(?:the|statistical|on|verdict|conclusion|result|about|of|and) )*(?:significance|evidence|chance|test|verdict|hypothes[ie]s|nullhypothesis|null|difference|association|p-?value)(?: (?:test|testing|level|result|verdict|of the \w+))*\W*"
)
"""What only heads what is said: "Significance: ..."."""
_BARE_P = re.compile(r"\(?(?:that is )?p ?[<>\u2264\u2265] ?<n\d+>\)?[ .]*")
"""A level named as an aside, which the rest of the clause meets, or does not."""
_PIECE = re.compile(r", ")

_OFTEN = re.compile(
    r"\b(?:(?P<less>less|fewer|rarer)|more|greater) (?:often )?than "
    r"(?:one (?:time )?in twenty|<n\d+> (?:of|in) (?:the |all )?(?:time|times|samples|such|cases|tables|data ?sets|studies|draws))"
)
_LESS, _MORE = re.compile(LESS_SIGN), re.compile(MORE_SIGN)
_SHORT = re.compile(r"\bnot reaches\b")
_DIFFERENCE = re.compile(DIFFERENCE)
_TEST = phrases_of(r"tests?|scrutiny|level|check|examination|analysis")
_AGAINST_DIFFERENCE = re.compile(r"\bagainst\b(?! (?:equal|independence|nullhypothesis))")
_HOW_OFTEN = phrases_of(
    "would|samples|times?|probability|how often|cases|data ?sets|chances?|occasions|tables|draws"
)
_HYPOTHETICAL = phrases_of(r"under (?:the |this |that )?(?:\w+ )?(?:hypothesis|null)")
_POSSIBLE = phrases_of("may|might|could|would|possibl[ey]|perhaps|even")


def evidence_claims(pattern: str) -> list[tuple[int, str, EvidenceClaim]]:
    """Return what is claimed, clause by clause: where the clause begins, the clause, the claim."""
    claims = list[tuple[int, str, EvidenceClaim]]()
    pattern = _CONCESSION.sub(" ", pattern)
    at = 0
    ends = [(match.start(), match.end()) for match in CLAUSE_END.finditer(pattern)]
    for start, end in [*ends, (len(pattern), len(pattern))]:
        clause = pattern[at:start]
        label = pattern[start : start + 1] == ":" and _LABEL.fullmatch(clause)
        if label:
            at = end
        elif claim := _claim_of(clause):
            claims.append((at, clause, claim))
        at = end
    return claims


def _claim_of(clause: str) -> EvidenceClaim | None:
    if answer := _ANSWER.search(clause):
        return _answered(answer)
    if (shown := _under_null(plainly(clause))) is not None:
        return _as_claim(shown)
    if "<n" in clause and _HOW_OFTEN.search(clause) and UNDER_NULL.search(plainly(clause)):
        return None  # how often, if nothing were there: a p-value in words
    within = _ASIDE.sub(" ", clause)
    claim = _claim_within(within)
    if claim is EvidenceClaim.EQUAL and _HYPOTHETICAL.search(clause):
        return None
    return claim if claim or within == clause else _claim_within(clause)


def _answered(answer: re.Match[str]) -> EvidenceClaim | None:
    """Read a question that is answered in a word: "significant at the 5% level: no"."""
    yes = answer["yes"] == "yes"
    claim = _claim_within(answer["asked"])
    if claim is None and (_ASKED.search(answer["asked"])):
        claim = EvidenceClaim.SHOWN
    return claim if yes or claim is None else _OPPOSITE[claim]


def _claim_within(clause: str) -> EvidenceClaim | None:
    """Read a clause without its asides."""
    plain = plainly(clause)
    if (shown := _open(plain)) is not None:
        return _as_claim(shown)
    if GENERAL.search(plain) or SUPPOSED.match(plain):
        return None
    if proves_equality(clause):
        return EvidenceClaim.EQUAL
    if cautions(clause):
        return None
    pieces = [plainly(piece) for piece in _PIECE.split(clause)]
    if len(pieces) > 1:
        pieces = [piece for piece in pieces if not _BARE_P.fullmatch(piece)] or pieces
    claims = {
        claim
        for piece in pieces
        for reader in _READERS
        if not (reader is _evidence and "causa" in clause) and (claim := reader(piece)) is not None
    }
    if len(claims) == 1:
        return _as_claim(claims.pop())
    return EvidenceClaim.EQUAL if not claims and claims_equality(clause) else None


def _as_claim(shown: bool) -> EvidenceClaim:
    return EvidenceClaim.SHOWN if shown else EvidenceClaim.NOT_SHOWN


def _under_null(plain: str) -> bool | None:
    """Read what is called rare, or common, among tables without any association."""
    if often := _OFTEN.search(plain):
        return often["less"] is not None
    supposed = UNDER_NULL.search(plain)
    if not supposed and not OF_SIZE.search(plain):
        return None
    rest = plain if supposed is None else f"{plain[: supposed.start()]} {plain[supposed.end() :]}"
    if RARE.search(rest):
        return not denied(RARE.sub(" ", rest))
    if not supposed or "<n" in rest or "probability" in rest or not COMMON.search(rest):
        return None
    return denied(COMMON.sub(" ", rest))


def _significance(plain: str) -> bool | None:
    if NULL_FINDING.search(plain):
        return denied(plain)
    passes = PASSES_TEST.search(plain) and not (P_VALUE.search(plain) and _is_beside_level(plain))
    if not (SIGNIFICANT.search(plain) or passes) or NO_FINDING.search(plain):
        return None
    return not denied(plain)


def _is_significance(plain: str) -> bool:
    return bool(SIGNIFICANT.search(plain) or PASSES_TEST.search(plain))


def _hypothesis(plain: str) -> bool | None:
    """Read what becomes of the hypothesis of no difference; its own "no" denies nothing."""
    match = NULL.search(plain)
    if not match:
        return None
    rest = f"{plain[: match.start()]} {plain[match.end() :]}"
    if AGAINST.search(rest):
        return not denied(rest)
    return denied(rest) if FOR.search(rest) else None


def _threshold(plain: str) -> bool | None:
    if not P_VALUE.search(plain) or SIGNIFICANT.search(plain) or NULL.search(plain):
        return None
    if UNDER.search(plain) or _LESS.search(plain):
        return not denied(plain)
    return denied(_SHORT.sub("over", plain)) if _is_beside_level(plain) else None


def _is_beside_level(plain: str) -> bool:
    return any(pattern.search(plain) for pattern in (UNDER, OVER, _LESS, _MORE))


def _chance(plain: str) -> bool | None:
    if not CHANCE.search(plain) or "probability" in plain or not EXPLAINED.search(plain):
        return None
    return (denied(plain) + len(BEYOND.findall(plain))) % 2 == 1


def _evidence(plain: str) -> bool | None:
    evidence, finding = EVIDENCE.search(plain), FINDS.search(plain)
    if NULL.search(plain) or _is_significance(plain) or CHANCE.search(plain):
        return None
    if CAUSES.search(plain) or not (evidence or finding):
        return None
    against = _AGAINST_DIFFERENCE.search(plain)
    shown = denied(plain) is bool(against)
    merely = not evidence and DESCRIPTIVE.search(plain) and not STRONG.search(plain)
    return None if merely and shown else shown


def _withstands(plain: str) -> bool | None:
    """Read what a difference, not the hypothesis of none, does with its test."""
    if NULL.search(plain) or _is_significance(plain) or not WITHSTANDS.search(plain):
        return None
    return not denied(plain) if _DIFFERENCE.search(plain) and _TEST.search(plain) else None


def _real(plain: str) -> bool | None:
    if not REAL.search(plain) or CAUSES.search(plain) or _POSSIBLE.search(plain):
        return None
    return None if NULL.search(plain) or CHANCE.search(plain) else not denied(plain)


def _open(plain: str) -> bool | None:
    if CAUSES.search(plain) or SIGNIFICANT.search(plain):
        return None
    if UNTOLD.search(plain):
        return False
    return denied(OPEN.sub(" ", plain)) if OPEN.search(plain) else None


_READERS: tuple[Callable[[str], bool | None], ...] = (
    _significance,
    _hypothesis,
    _threshold,
    _chance,
    _evidence,
    _withstands,
    _real,
)
