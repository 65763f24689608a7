"""Words beside a number that name a fact: the evidence without which a number is pointed at."""

import re

from biaswatch.services.evaluator.domain.reading import cues
from biaswatch.services.evaluator.domain.reading.evidence import SentenceEvidence
from biaswatch.services.evaluator.domain.reading.facts import (
    DIFFERENCES,
    ODDS_RATIOS,
    RISKS,
    SHARES,
    Fact,
)
from biaswatch.services.evaluator.domain.reading.numbers import Number, Unit

COUNTED = frozenset({"having", "lacking", "size", "missing", "asked", "answered"})
NEEDED = {
    "lacking": cues.NOT, "lacking_share": cues.NOT, "missing": cues.MISSING,
    "missing_share": cues.MISSING, "answered_share": cues.ANSWERS, "difference": cues.APART,
    "asked": cues.ANSWERS, "answered": cues.ANSWERS,
    "comparisons": cues.COMPARED, "expected": cues.EXPECTED,
}  # fmt: skip
"""Words that a sentence has to hold where a number states what no mention names."""
UNNAMED = frozenset(NEEDED) | SHARES | COUNTED | DIFFERENCES
"""Statistics that other words than their names show."""
_WHOLE_BEFORE = re.compile(
    r"(?:\b(?:of|among|from|the|all|these|those|with|by|has|have)|[:=|/(]|\bn)\s*$", re.IGNORECASE
)
_OF = r"\b(?:of|among)\s+(?:\S+\s+){0,3}?"
_FACTOR_CHARS = 45


def names_fact(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether the words beside a number name a fact."""
    names, statistic = evidence.names(number), fact.statistic
    if evidence.is_p(number):
        return fact.part == "p" and statistic in evidence.tests(number)
    if statistic in {"change", "factor"}:
        return _fits(evidence, number, fact)
    grouped = fact.group is not None or statistic in COUNTED | SHARES
    if grouped and statistic != "expected" and not evidence.is_of(number, fact):
        return False
    if fact.part == "p":
        return statistic in names.statistics
    if not evidence.is_part(number, fact.part) or fact.inverse > evidence.is_reversed:
        return False
    if names.specific or statistic not in UNNAMED:
        of_mean = statistic == "mean" and not names.statistics
        return of_mean or statistic in names.statistics
    return _is_unnamed(evidence, number, fact)


def _is_unnamed(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether other words than a name show what a number states."""
    if number.unit is Unit.PERCENT and cues.CHANGE.match(evidence.text, number.end):
        return False
    if fact.statistic in SHARES:
        return _is_share(evidence, number, fact)
    if fact.statistic in DIFFERENCES:
        names = evidence.names(number).statistics
        differs = names <= cues.EVERYDAY and cues.APART.search(evidence.text)
        return fact.statistic in names or bool(differs)
    return number.unit is Unit.PLAIN and _is_counted(evidence, number, fact)


def _fits(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether the words fit the measure of a change or a factor."""
    text, names = evidence.text, evidence.names(number).statistics
    changes = cues.CHANGE.match(text, number.end) is not None
    unit = number.unit is Unit.TIMES or (number.unit is Unit.PERCENT and changes)
    if not unit or changes != (fact.statistic == "change"):
        return False
    if not changes and cues.OF_WHOLE.match(text, number.end):
        return False
    if changes and (fact.value < 0) != bool(cues.LOWER.match(text, number.end)):
        return False
    after = text[number.end : number.end + _FACTOR_CHARS]
    likely = cues.LIKELY.search(after) and not cues.ODDS.search(after)
    of_odds = not likely and (cues.ODDS.search(after) or cues.ODDS.search(text[: number.start]))
    if fact.part in ODDS_RATIOS:
        return bool(of_odds) and fact.part in (names & ODDS_RATIOS or {"odds_ratio"})
    many = cues.MANY.match(after) is not None
    if fact.part in RISKS:
        return not of_odds and not many
    return many or fact.part in {"mean", "tolerance"}


def _is_share(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether words show that a number is a share of this kind."""
    text, statistic = evidence.text, fact.statistic
    named = "share" in evidence.names(number).statistics
    if number.unit is Unit.PLAIN and not named and not (evidence.is_row and not number.whole):
        return False
    if statistic == "part":
        return re.search(_OF + evidence.outcome.pattern, text, re.IGNORECASE) is not None
    of_whole = cues.OF_WHOLE.match(text, number.end)
    if fact.group is not None and of_whole and evidence.following_group(number) is None:
        return False
    if statistic == "share":
        return not cues.NOT.search(evidence.masked(evidence.segment(number)))
    return NEEDED[statistic].search(evidence.masked(text)) is not None


def _is_counted(evidence: SentenceEvidence, number: Number, fact: Fact) -> bool:
    """Tell whether words show that a number is a count of this kind."""
    text, segment = evidence.text, evidence.masked(evidence.segment(number))
    if fact.statistic == "having":
        known = evidence.whole_of(number) or evidence.is_row or evidence.outcome.search(text)
        return bool(known) and not cues.NOT.search(segment)
    if fact.statistic == "size":
        return bool(_WHOLE_BEFORE.search(text[: number.start])) or not evidence.outcome.search(
            text, number.end
        )
    of_row = evidence.is_row and fact.statistic == "lacking"
    return of_row or NEEDED[fact.statistic].search(evidence.masked(text)) is not None
