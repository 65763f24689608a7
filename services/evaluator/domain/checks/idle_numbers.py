"""Numbers that are no statistic: years, items of a list, two groups, a hundred people."""

import re

from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.services.evaluator.domain.checks.written_numbers import WrittenNumber

A_FEW = 12
"""As many groups, tests or steps a sentence may speak of without meaning a statistic."""
_THINGS = re.compile(
    r"[\s-]*(?:groups?|strat(?:a|um)|sided|tailed|tables?|rows?|columns|tests?|measures?|ratios?|methods?|digits?|decimals?|decimal\s+places"
    r"|years?|months?|weeks?|days?|hours?|notes?|steps?|ways?|sentences?|paragraphs?|figures|things|variables?|outcomes?|categor(?:y|ies)|studies|sites|models?|million|thousand)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(
    r"\b(?:in|since|of|from|until|by|during|dated|year|to|and|\u00a9)\s*\(?$", re.IGNORECASE
)
_SUMMED = re.compile(r"\b(?:add(?:s|ed)?\s+up|sum|sums|total)\s+to\s+(?:\w+\s+)?$", re.IGNORECASE)
_A_HUNDRED = re.compile(r"\b(?:in|of|per|for|among)\s+(?:a|an|every|each|one)?\s*$", re.IGNORECASE)
_ITEM = re.compile(r"^\s*[(\[]?$")


def is_no_statistic(wording: Wording, number: WrittenNumber) -> bool:
    """Tell whether a number stands where no statistic is meant: a year, an item of a list, two groups."""
    if not number.whole or number.signed:
        return False
    before, after = wording.text[: number.start], wording.text[number.end :]
    return bool(
        (number.value <= A_FEW and _THINGS.match(after))
        or (1900 <= number.value <= 2099 and _YEAR.search(before))
        or (number.value == 100 and (_SUMMED.search(before) or _A_HUNDRED.search(before)))
        or (_ITEM.match(before) and after[:1] in {".", ")", "]"})
    )
