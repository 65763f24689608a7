"""What a clause claims of evidence: that something is shown, that it is not, or that groups are equal.

A claim is an anchor ("significant", "chance", "the null hypothesis", "evidence of a difference")
and what turns it round: every denial, and words like "beyond chance" or "against equality". Two
that turn it round leave it as it was. Clauses whose anchors contradict one another claim nothing
that could be checked.
"""

import re
from collections.abc import Callable
from enum import StrEnum

from services.evaluator.domain.checks.equality_claims import claims_equality, proves_equality
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
from services.evaluator.domain.checks.phrases import phrases_of, words_of


class EvidenceClaim(StrEnum):
    """What is said of evidence."""

    SHOWN = "shown"
    NOT_SHOWN = "not shown"
    EQUAL = "equal"


CLAUSE_END = re.compile(
    r";|,? \b(?:but|whereas|while|although|though|however|yet|because|so that|given that)\b"
    r"|, (?:and|so|which|since|hence|therefore|thus)\b|: (?!(?:yes|no|not|none|absent)\b)| \u2013 "
)
_ANSWER = re.compile(r"\bsignifican\w+\b[^;:]{0,40}: (?P<yes>yes|no)\b|^\W*(?P<also>yes|no),")
"""A question that is answered in a word: "significant: yes"; "No, ..."."""
_ASIDE = re.compile(r", at [^,;]*\blevel\b[^,;]*,|\([^()]*\)")
_BARE_P = re.compile(r"\(?(?:that is )?p ?[<>] ?<n\d+>\)?[ .]*")
"""A level named as an aside, which the rest of the clause meets, or does not."""
_PIECE = re.compile(r", ")

_OFTEN = re.compile(
    r"\b(?:(?P<less>less|fewer|rarer)|more|greater) (?:often )?than "
    r"(?:one (?:time )?in twenty|<n\d+> of (?:all )?(?:samples|times|such))"
)
_RARE = phrases_of(
    "not likely",
    "unusual|rare|improbable|exceptional|surprising|odd|remarkable",
    "not (?:often|frequently|usually|arise|occur|appear)",
)
_ALIKE = words_of(r"unrelated independen\w+ equal\w* nullhypothesis alike the\ssame")
_UNDER_NULL = phrases_of(
    rf"(?:if|were|was|assuming|under)\b[^;]*\b{_ALIKE}",
    r"(?:if|were|was|assuming|under)\b[^;]*\bnot (?:\w+ )?(?:difference|association|effect|link)",
    "(?:table|gap|difference|data) (?:like|of) (?:this|these)",
)
_POSSIBLE = phrases_of("may|might|could|would|possibl[ey]|perhaps|even")


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
    if proves_equality(clause):
        return EvidenceClaim.EQUAL
    claims = {said for reader in _WHOLE_READERS if (said := reader(plain)) is not None}
    pieces = [plainly(piece) for piece in _PIECE.split(clause)]
    if len(pieces) > 1:
        pieces = [piece for piece in pieces if not _BARE_P.fullmatch(piece)] or pieces
    claims |= {
        said for piece in pieces for reader in _READERS if (said := reader(piece)) is not None
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
    if not _RARE.search(plain) or not _UNDER_NULL.search(plain):
        return None
    return len(NOT.findall(_RARE.sub(" ", _UNDER_NULL.sub(" ", plain)))) % 2 == 0


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
