"""What a sentence says a measure is: a ratio is no difference, odds are no probabilities."""

import re
from collections.abc import Iterator

from biaswatch.services.evaluator.domain.checks.denials import is_denied
from biaswatch.services.evaluator.domain.checks.wording import Wording

_RATIO = r"<m:(?:odds_ratio|relative_risk|impact_ratio)>"
_DIFFERENCE = r"(?:<m:(?:risk_difference|gap)>|\bthe (?:mean |estimated |observed )?(?:gap|difference)(?! between))"
_IS = r"(?:is|was|means|equals|tells|gives|denotes|stands\s+for|refers\s+to|defined\s+as)"
_IS_READ = r"(?:(?:is|was|are) (?:simply |just |merely |here |to be |best )*(?:read as |understood as |taken as |seen as |meant as |called )?|means |denotes |represents |expresses |stands for |amounts to |serves as |can be read as |should be read as |must be read as )"
_RISKS = r"(?:probabilit(?:y|ies)|chances?|risks?|rates?|likely|likelihood|often)"
_OVER = r"<m:relative_risk>[^;.]*"
_OF_DIVISION = r"(?:divided by|over|to|relative to|as a (?:fraction|multiple|proportion|share) of)"
_DEFINES = rf"[^;.,]{{0,30}}?\b{_IS}\b (?:simply |just |merely |here |obtained by dividing |the (?:result|quotient|ratio) of (?:dividing )?)*"
_DEFINITIONS: tuple[tuple[str, str], ...] = (
    (
        rf"{_RATIO}[^;.]{{0,40}}\b{_IS}\b[^;.]*\b(?:minus|subtract\w*|less\s+the)\b",
        "A ratio is called a difference.",
    ),
    (
        rf"{_DIFFERENCE}[^;.]{{0,40}}\b{_IS}\b[^;.]*\b(?:divided\s+by|quotient)\b",
        "A difference is called a ratio.",
    ),
    (
        rf"{_DIFFERENCE} {_IS_READ} (?:an? |the )?(?:{_RATIO}|ratio|quotient|factor|multiple)\b(?! of 1)",
        "A difference is called a ratio.",
    ),
    (
        rf"{_DIFFERENCE} (?:tells|says|gives|states|shows|expresses|is)[^;.]{{0,20}}\bhow many times\b|{_DIFFERENCE}[^;.]{{0,30}}\bby what factor\b",
        "A difference is called a ratio.",
    ),
    (
        rf"{_RATIO} {_IS_READ} (?:an? |the )?(?:{_DIFFERENCE}|(?:\w+ )?difference|subtraction|distance)\b",
        "A ratio is called a difference.",
    ),
    (
        rf"{_RATIO}\s+and\s+(?:the\s+)?{_RATIO}\s+(?:are|mean|measure)\s+(?:the\s+same|identical|one\s+and\s+the\s+same|two\s+names|interchangeable|synonym\w*)",
        "Two measures are called the same.",
    ),
    (
        rf"{_OVER}<g0> (?:as|is|in|forms) (?:its |the )?denominator|{_OVER}<g1> (?:as|is|in|forms) (?:its |the )?numerator",
        "The ratio is of the first group over the second.",
    ),
    (
        rf"{_RATIO} (?:tells|says|gives|states|shows|is)[^;.]*\bpercentage points\b",
        "A ratio is called a difference.",
    ),
    (
        rf"<m:odds_ratio>{_DEFINES}(?:the )?(?:rates?|risks?|probabilit(?:y|ies)|proportions?|shares?|percentages?)\b[^;.]*\b{_OF_DIVISION}\b",
        "Odds are read as probabilities.",
    ),
    (
        rf"<m:relative_risk>{_DEFINES}(?:the )?odds\b[^;.]*\b{_OF_DIVISION}\b",
        "Probabilities are read as odds.",
    ),
    (
        rf"<m:impact_ratio>{_DEFINES}(?:the )?(?:higher|larger|greater)\b[^;.]*\b{_OF_DIVISION}\b[^;.]*\b(?:lower|smaller|lesser)\b",
        "The impact ratio is the smaller rate over the larger.",
    ),
    (
        rf"<m:(?:odds_ratio|relative_risk)>{_DEFINES}(?:the )?(?:odds|rates?|risks?|probability|share|proportion)[^;.<]*<g1>[^;.<]*{_OF_DIVISION}[^;.<]*<g0>",
        "The ratio is of the first group over the second.",
    ),
    (
        rf"<m:odds_ratio>[^;.<]*(?:<n\d+>|two|three)?[^;.<]*\b(?:means?|says|meaning|implies|tells)\b[^;.]*\b{_RISKS}\b[^;.]*(?:\b(?:doubled?|twice|tripled?|halved)\b|<n\d+>)",
        "Odds are read as probabilities.",
    ),
)
"""What is wrong to say of a measure, whatever its value, and why."""
_COMPILED = tuple((re.compile(words), said) for words, said in _DEFINITIONS)


def definition_faults(wording: Wording) -> Iterator[tuple[str, str]]:
    """Return a fault where a measure is explained as what it is not."""
    for words, message in _COMPILED:
        match = words.search(wording.pattern)
        if match and not is_denied(wording.pattern, match.end()):
            yield "direction", message
            return
