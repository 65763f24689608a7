"""The nouns that numbers belong to, and which statistics each of them can be said of."""

import re
from collections.abc import Mapping
from enum import StrEnum

from biaswatch.services.evaluator.domain.checks.facts import MEANS, Fact, NumberRole
from biaswatch.services.evaluator.domain.checks.written_numbers import Unit, WrittenNumber


class Quantity(StrEnum):
    """What a number is a number of, as its noun says."""

    P = "p-value"
    LEVEL = "level"
    BOUND = "bound"
    ODDS = "odds"
    SHARE = "share"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    MEAN = "mean"
    COUNT = "count"
    TEST = "statistic"
    MISSING = "missing answers"


QUANTITY_WORDS: Mapping[Quantity, str] = {
    Quantity.P: r"p-values?|p|p\.|probability value|significance probability",
    Quantity.LEVEL: r"levels?|alpha|\u03b1|confidence|confident|significance|thresholds?|cut-?offs?|mark|hurdle|criterion|benchmark|rule|fifths",
    Quantity.BOUND: r"intervals?|ci|cis|bounds?|limits?|ranges?|ranged|ranging|ends?|endpoints?|spans?|spanning|spanned|stretch\w*|extend\w*|uncertainty",
    Quantity.ODDS: r"odds",
    Quantity.SHARE: r"rates?|shares?|proportions?|percentages?|fractions?|probabilit(?:y|ies)|chances?|risks?|likelihoods?|likely|likelier|often|oftener|frequen\w+|common|commonly|prevalence|incidence",
    Quantity.DIFFERENCE: r"differences?|gaps?|disparit(?:y|ies)|points|margins?|spread|apart|distance|lead|excess|shortfall|deficit|increase|decrease|reduction|rise|drop|subtract\w*|deduct\w*|minus",
    Quantity.RATIO: r"ratios?|factors?|times|multipl\w+|multiplied|fold",
    Quantity.MEAN: r"means?|averages?|averaged|averaging|scores?|scored|ratings?|rated",
    Quantity.COUNT: r"cases|people|persons|observations|records|individuals|participants|applicants|applications|number|numbers|count|counts|total|totals|totalling|n|sample|files|members|all",
    Quantity.TEST: r"statistics?|chi|x2|\u03c72|\u03c7\u00b2",
    Quantity.MISSING: r"answers?|responses?|prompts?|repl(?:y|ies)|missing",
}  # fmt: skip
"""By quantity, the words that name it."""
_WORDS = tuple(
    (quantity, re.compile(rf"(?:{words})(?:'s|\u2019s)?"))
    for quantity, words in QUANTITY_WORDS.items()
)
_RATIOS = {
    "odds_ratio",
    "odds_ratio_within",
    "odds_ratio_adjusted",
    "relative_risk",
    "impact_ratio",
}
_OF_ODDS = {"odds_ratio", "odds_ratio_within", "odds_ratio_adjusted"}
_OF_SHARES = {"relative_risk", "impact_ratio"}
_TESTS = {"chi_square", "cmh", "gap_test"}
_DIFFERENCES = {"risk_difference", "gap", "effect_size"}
ESTIMATES = {NumberRole.VALUE, NumberRole.CHANGE, NumberRole.INVERSE}
BOUNDS = {NumberRole.LOW, NumberRole.HIGH}
_COUNTS = {NumberRole.COUNT, NumberRole.TOTAL, NumberRole.LEAST}


def quantity_of(word: str) -> Quantity | None:
    """Return what a word in lower case is a noun of; None for most words."""
    return next((quantity for quantity, words in _WORDS if words.fullmatch(word)), None)


def can_be(quantity: Quantity, fact: Fact) -> bool:
    """Tell whether a noun can be said of a statistic."""
    role, measure = fact.role, fact.measure
    estimate = role in ESTIMATES
    if measure is None and role is NumberRole.VALUE:
        return True  # a number that a note contains
    return {
        Quantity.P: role in {NumberRole.P, NumberRole.LEVEL},
        Quantity.LEVEL: role in {NumberRole.LEVEL, NumberRole.THRESHOLD, NumberRole.LEAST},
        Quantity.BOUND: role in BOUNDS | {NumberRole.NEUTRAL, NumberRole.LEVEL},
        Quantity.ODDS: (estimate and measure in _OF_ODDS)
        or role is NumberRole.COUNT
        or (role is NumberRole.RATE and "odds" in fact.label),
        Quantity.SHARE: role in {NumberRole.RATE, NumberRole.SAMPLE}
        or (estimate and measure in _OF_SHARES),
        Quantity.DIFFERENCE: (estimate and measure in _DIFFERENCES)
        or role in {NumberRole.CHANGE, NumberRole.INVERSE}
        or (role is NumberRole.COUNT and fact.group is None),
        Quantity.RATIO: estimate and measure in _RATIOS,
        Quantity.MEAN: estimate and (measure in MEANS or measure in {"gap", "effect_size"}),
        Quantity.COUNT: role in _COUNTS,
        Quantity.TEST: measure in _TESTS and role in {NumberRole.VALUE, NumberRole.FREEDOM},
        Quantity.MISSING: role in _COUNTS | {NumberRole.RATE},
    }[quantity]


def unit_allows(number: WrittenNumber, fact: Fact, quantities: frozenset[Quantity | str]) -> bool:
    """Tell whether a number in its unit can state a statistic at all, whatever its sentence says."""
    role, measure = fact.role, fact.measure
    if number.unit is Unit.POINTS:
        return measure in _DIFFERENCES and role in ESTIMATES | BOUNDS
    if number.unit is Unit.TIMES:
        return role in ESTIMATES | BOUNDS | {NumberRole.RATE} and (
            measure in _RATIOS or measure is None
        )
    if number.unit is Unit.PERCENT:
        if role in _COUNTS or (measure in _TESTS and role is NumberRole.VALUE):
            return False
        if role is NumberRole.P:
            return bool(quantities & {Quantity.P, Quantity.SHARE})
        if role is NumberRole.VALUE and measure in _RATIOS:
            return bool(quantities & {*_RATIOS, Quantity.RATIO, Quantity.ODDS})
    return True
