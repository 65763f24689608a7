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
from services.evaluator.domain.checks.phrases import phrases_of, words_of


class EvidenceClaim(StrEnum):
    """What is said of evidence."""

    SHOWN = "shown"
    NOT_SHOWN = "not shown"
    EQUAL = "equal"


CLAUSE_END = re.compile(
    r";|,? \b(?:but|whereas|while|although|though|however|yet|because|so that|given that)\b"
    r"|, (?:and|so|which|since|hence|therefore|thus)\b|: (?!(?:yes|no)\b)| \u2013 "
)
_ANSWER = re.compile(r"\bsignifican\w+\b[^;:]{0,40}: (?P<yes>yes|no)\b|^\W*(?P<also>yes|no),")
"""A question that is answered in a word: "significant: yes"; "No, ..."."""
_ASIDE = re.compile(r", at [^,;]*\blevel\b[^,;]*,|\([^()]*\)")
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

_SUPPOSED = (
    "if|would|whether|hypothes\\w+|null|suppos\\w+|assum\\w+|question|claim\\w*|idea|were there"
)
_OF_VALUES = "values?|possib\\w+|plausib\\w+|compatible|consistent|includ\\w+|exclud\\w+|contain\\w*|rul(?:e|ed|es) out|interval"
_OF_EVIDENCE = "significan\\w*|statistical\\w*|evidence|detect\\w*|expect\\w*|conclusion|fail\\w*|necessarily|cannot|yet"
_OF_FACTORS = "than|times|as likely|likely as|far from|direction|means?(?: that)?|wrong"
_EQUAL_GUARD = phrases_of(_SUPPOSED, _OF_VALUES, _OF_EVIDENCE, _OF_FACTORS)
"""What shows that a clause does not simply call the groups equal."""

_NO = "(?:no|not any|neither a) (?:(?:real|actual|true|such|further|meaningful|systematic|relevant) )*"
_GAP = words_of(
    r"differences? disparit\w+ gap effect associations? link relationship inequality imbalance bias"
)
_GROUPS = (
    "(?:<g[01]> and (?:the )?<g[01]>|(?:the|these|both|two) (?:two )?(?:groups?|rates|sides|shares|means|averages)"
    "|both(?: groups)?|they|groups?|group and outcome|outcomes?(?: and group)?)"
)
_SHOWS = words_of(
    r"there\s(?:is|was|are) shows? showed proves? proved demonstrates? confirm(?:s|ed)? establish\w*"
    r" conclude[sd]? found find finds see saw has have makes? made"
)
_FARES = words_of(
    "are were is was fare fared do did have had share get got enjoy receive[sd]? treated"
)
_EQUALLY = (
    "(?:equal(?:ly)?|alike|the same|identical(?:ly)?|equivalent|unrelated|independent|even|on a par"
    "|unconnected|indistinguishable)"
)
_HAS = words_of(
    r"have has had shar(?:e|ed) enjoy\w* faces? get got received? at show\w* prove\w* confirm\w*"
    r" demonstrat\w* establish\w*"
)
_CHANCES = words_of(r"chances? odds rates? probabilit\w+ likelihood risks? treatment outcomes?")
_EQUAL = phrases_of(
    rf"{_SHOWS} (?:that )?(?:there (?:is|was) )?{_NO}{_GAP}",
    rf"{_NO}{_GAP} (?:exists?|existed|between|is present)",
    "absence of (?:any |an? )?(?:disparity|difference|association|gap)",
    rf"{_GROUPS} (?:do|did|does)(?: not|n[\u2019']t) differ",
    rf"{_GROUPS}(?: of the (?:two )?groups)? {_FARES} (?:(?!not\b)\w+ ){{0,3}}?{_EQUALLY}",
    rf"{_HAS} (?:\w+ ){{0,2}}?(?:the same|an? equal|identical|equal) {_CHANCES}",
    "equally (?:well|often|likely|frequently|common)",
    "equal treatment|plays? no (?:role|part)|played no (?:role|part)",
    r"fair to (?:both|all|each)|groups fare (?:equal|alike)\w*",
    "equality is (?:shown|proven|established|confirmed)",
    "(?:proves?|proved|confirms?|shows?|demonstrates?) equality",
)
"""Ways to call the groups equal."""
_PROVES = r"(?:prov(?:es?|ed|en)|demonstrat(?:es?|ed)|establish(?:es|ed)?|confirm(?:s|ed)?|verif(?:y|ies|ied))"
_EQUAL_SHOWN = phrases_of(
    r"(?:absence of (?:any |an? )?(?:disparity|difference|association|gap|inequality|bias)|equality|equal treatment)"
    r"\b[^;]*\b(?:established|shown|confirmed|proven|proved|demonstrated)",
    rf"{_PROVES} that\b[^;]*\b(?:not differ|(?:are|is|were|was) (?:\w+ )?{_EQUALLY}|(?:are|were) treated {_EQUALLY})",
    rf"(?:rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)) any {_GAP}",
    rf"{_PROVES} that (?:the )?null(?:hypothesis| hypothesis)? (?:is|was) (?:true|right|correct)",
)
"""Ways to call it proven that the groups are equal."""


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
    proven = _EQUAL_SHOWN.search(clause)
    if proven and _even(plainly(clause[: proven.start()])) and not _denied_equal(clause):
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
