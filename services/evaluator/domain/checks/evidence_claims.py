"""What a clause claims of evidence: that something is shown, that it is not, or that groups are equal.

A claim is an anchor ("significant", "chance", "the null hypothesis", "evidence of a difference")
and what turns it round: every denial, and words like "beyond chance" or "against equality". Two
that turn it round leave it as it was. Clauses whose anchors contradict one another claim nothing
that could be checked.
"""

import re
from collections.abc import Callable
from enum import StrEnum

from services.evaluator.domain.checks.evidence_words import (
    CAUSES,
    CHANCE,
    EVIDENCE,
    GENERAL,
    KEPT,
    NO_FINDING,
    NOT,
    NULL,
    OPEN,
    OVER,
    OVER_CHANCE,
    P_VALUE,
    REAL,
    REFUSED,
    SIGNIFICANT,
    UNDER,
    UNTOLD,
    WRONG_SIDE,
    plainly,
)


class EvidenceClaim(StrEnum):
    """What is said of evidence."""

    SHOWN = "shown"
    NOT_SHOWN = "not shown"
    EQUAL = "equal"


CLAUSE_END = re.compile(
    r";|,?\s+\b(?:but|whereas|while|although|though|however|yet|because|so\s+that|given\s+that)\b"
    r"|,\s+(?:and|so|which|since|hence|therefore|thus)\b|:\s+(?!(?:yes|no)\b)|\s\u2013\s"
)
_ANSWER = re.compile(r"\bsignifican\w+\b[^;:]{0,40}:\s*(?P<yes>yes|no)\b|^\W*(?P<also>yes|no),")
_ASIDE = re.compile(r",\s+at\s+[^,;]*\blevel\b[^,;]*,|\([^()]*\)")
_PIECE = re.compile(r",\s+")
_OFTEN = re.compile(
    r"\b(?:(?P<less>less|fewer|rarer)|more|greater)\s+(?:often\s+)?than\s+(?:one\s+(?:time\s+)?in\s+twenty|<n\d+>\s+of\s+(?:all\s+)?(?:samples|times|such))"
)
_RARE = re.compile(
    r"\bnot\s+likely\b|\b(?:unusual|rare|improbable|exceptional|surprising|odd|remarkable)\b|\bnot\s+(?:often|frequently|usually|arise|occur|appear)\b"
)
_UNDER_NULL = re.compile(
    r"\b(?:if|were|was|assuming|under)\b[^;]*\b(?:unrelated|independen\w+|equal\w*|nullhypothesis|alike|the\s+same|not\s+(?:\w+\s+)?(?:difference|association|effect|link))\b"
    r"|\b(?:table|gap|difference|data)\s+(?:like|of)\s+(?:this|these)\b"
)
_POSSIBLE = re.compile(r"\b(?:may|might|could|would|possibl[ey]|perhaps|even)\b")
_EQUAL_GUARD = re.compile(
    r"\b(?:if|would|whether|hypothes\w+|null|suppos\w+|assum\w+|values?|possib\w+|plausib\w+|compatible|consistent|includ\w+|exclud\w+"
    r"|contain\w*|rul(?:e|ed|es)\s+out|means|means?\s+that|than|far\s+from|significan\w*|statistical\w*|evidence|cannot|interval|expect\w*|were\s+there|as\s+likely|detect\w*|question|direction|likely\s+as|claim\w*|idea|times|fail\w*|necessarily|wrong|conclusion|yet)\b"
)
_NO = r"(?:no|not\s+any|neither\s+a)\s+(?:(?:real|actual|true|such|further|meaningful|systematic|relevant)\s+)*"
_WHO = r"(?:<g[01]>\s+and\s+<g[01]>|(?:the|these|both|two)\s+(?:two\s+)?(?:groups?|rates|sides|shares|means|averages)|both(?:\s+groups)?|they|groups?|group\s+and\s+outcome|outcomes?(?:\s+and\s+group)?)"
_EQUAL = re.compile(
    rf"\b(?:there\s+(?:is|was|are)|shows?|showed|proves?|proved|demonstrates?|confirm(?:s|ed)?|establish\w*|conclude[sd]?|found|find|finds|see|saw|has|have|makes?|made)\s+(?:that\s+)?(?:there\s+(?:is|was)\s+)?{_NO}(?:differences?|disparit\w+|gap|effect|associations?|link|relationship|inequality|imbalance|bias)\b"
    rf"|\b{_NO}(?:differences?|disparit\w+|gap|association|inequality|bias)\s+(?:exists?|existed|between|is\s+present)\b|\babsence\s+of\s+(?:any\s+|an?\s+)?(?:disparity|difference|association|gap)\b"
    rf"|\b{_WHO}\s+(?:do|did|does)(?:\s+not|n[\u2019']t)\s+differ\b"
    rf"|\b{_WHO}(?:\s+of\s+the\s+(?:two\s+)?groups)?\s+(?:are|were|is|was|fare|fared|do|did|have|had|share|get|got|enjoy|receive[sd]?|treated)\s+(?:(?!not\b)\w+\s+){{0,3}}?(?:equal(?:ly)?|alike|the\s+same|identical(?:ly)?|equivalent|unrelated|independent|even|on\s+a\s+par|unconnected|indistinguishable)\b"
    r"|\b(?:have|has|had|shar(?:e|ed)|enjoy\w*|faces?|get|got|received?|at|show\w*|prove\w*|confirm\w*|demonstrat\w*|establish\w*)\s+(?:\w+\s+){0,2}?(?:the\s+same|an?\s+equal|identical|equal)\s+(?:chances?|odds|rates?|probabilit\w+|likelihood|risks?|treatment|outcomes?)\b|\bequally\s+(?:well|often|likely|frequently|common)\b"
    r"|\bequal\s+treatment\b|\b(?:plays?|played)\s+no\s+(?:role|part)\b|\bfair\s+to\s+(?:both|all|each)\b|\bgroups\s+fare\s+(?:equal|alike)\w*|\bequality\s+is\s+(?:shown|proven|established|confirmed)\b|\b(?:proves?|proved|confirms?|shows?|demonstrates?)\s+equality\b"
)
_EQUAL_SHOWN = re.compile(
    r"\b(?:absence\s+of\s+(?:any\s+|an?\s+)?(?:disparity|difference|association|gap|inequality|bias)|equality|equal\s+treatment)\b[^;]*"
    r"\b(?:established|shown|confirmed|proven|proved|demonstrated)\b"
)


def evidence_claims(pattern: str) -> list[tuple[int, str, EvidenceClaim]]:
    """Return what is claimed, clause by clause: where the clause begins, the clause, the claim."""
    found = list[tuple[int, str, EvidenceClaim]]()
    at = 0
    ends = [(each.start(), each.end()) for each in CLAUSE_END.finditer(pattern)]
    for start, end in [*ends, (len(pattern), len(pattern))]:
        clause = pattern[at:start]
        if claim := _claim_of(clause):
            found.append((at, clause, claim))
        at = end
    return found


def _claim_of(clause: str) -> EvidenceClaim | None:
    answer = _ANSWER.search(clause)
    if answer and answer["yes"]:
        return EvidenceClaim.SHOWN if answer["yes"] == "yes" else EvidenceClaim.NOT_SHOWN
    clause = clause[answer.end() :] if answer else _ASIDE.sub(" ", clause)
    plain = plainly(clause)
    if (shown := _under_null(plain)) is not None:
        return _as_claim(shown)
    if GENERAL.search(plain):
        return None
    if _EQUAL_SHOWN.search(clause) and not _denied_equal(clause):
        return EvidenceClaim.EQUAL
    claims = {said for reader in _WHOLE_READERS if (said := reader(plain)) is not None}
    pieces = [plainly(piece) for piece in _PIECE.split(clause)]
    claims |= {
        said for piece in pieces for reader in _READERS if (said := reader(piece)) is not None
    }
    if len(claims) == 1:
        return _as_claim(claims.pop())
    if not claims and _EQUAL.search(clause) and not _EQUAL_GUARD.search(clause):
        return None if _denied_equal(clause) else EvidenceClaim.EQUAL
    return None


def _as_claim(shown: bool) -> EvidenceClaim:
    return EvidenceClaim.SHOWN if shown else EvidenceClaim.NOT_SHOWN


def _under_null(plain: str) -> bool | None:
    """Read what is called rare, or common, among tables without any association."""
    if often := _OFTEN.search(plain):
        return often["less"] is not None
    if not _RARE.search(plain) or not _UNDER_NULL.search(plain):
        return None
    return len(NOT.findall(_RARE.sub(" ", _UNDER_NULL.sub(" ", plain)))) % 2 == 0


def _denied_equal(clause: str) -> bool:
    found = _EQUAL.search(clause)
    before = plainly(clause[: found.start()]) if found else ""
    return len(NOT.findall(before)) % 2 == 1


def _even(plain: str) -> bool:
    """Whether denials cancel out."""
    return len(NOT.findall(plain)) % 2 == 0


def _significance(plain: str) -> bool | None:
    if WRONG_SIDE.search(plain):
        return not _even(plain)
    if not SIGNIFICANT.search(plain) or NO_FINDING.search(plain):
        return None
    return _even(plain)


def _hypothesis(plain: str) -> bool | None:
    if not NULL.search(plain):
        return None
    if REFUSED.search(plain):
        return _even(plain)
    return not _even(plain) if KEPT.search(plain) else None


def _threshold(plain: str) -> bool | None:
    if not P_VALUE.search(plain) or SIGNIFICANT.search(plain):
        return None
    if UNDER.search(plain):
        return _even(plain)
    return not _even(plain) if OVER.search(plain) else None


def _chance(plain: str) -> bool | None:
    if not CHANCE.search(plain) or "probability" in plain:
        return None
    return (len(NOT.findall(plain)) + len(OVER_CHANCE.findall(plain))) % 2 == 1


def _evidence(plain: str) -> bool | None:
    found = EVIDENCE.search(plain)
    if not found or NULL.search(plain) or SIGNIFICANT.search(plain) or CAUSES.search(plain):
        return None
    against = re.search(r"\bagainst\b(?!\s+(?:equal|independence|nullhypothesis))", plain)
    return _even(plain) is not bool(against)


def _real(plain: str) -> bool | None:
    if not REAL.search(plain) or CAUSES.search(plain) or _POSSIBLE.search(plain):
        return None
    return _even(plain)


def _open(plain: str) -> bool | None:
    if CAUSES.search(plain):
        return None
    if UNTOLD.search(plain):
        return False
    return not _even(plain) if OPEN.search(plain) else None


_READERS: tuple[Callable[[str], bool | None], ...] = (
    _significance,
    _hypothesis,
    _threshold,
    _chance,
    _evidence,
    _real,
)
_WHOLE_READERS: tuple[Callable[[str], bool | None], ...] = (_open,)
