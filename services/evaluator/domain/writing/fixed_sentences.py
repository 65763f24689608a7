"""Fixed sentences: what each claim says, in words, with slots for its numbers."""

from collections.abc import Mapping

from biaswatch.services.evaluator.domain.subjects import NEITHER

CAVEATS = {
    "causes": "The statistics describe an association and cannot show its cause.",
    "nature": "No difference here describes the nature, ability or conduct of a group.",
    "absence": "A result that is not significant does not prove equality.",
    "few_cases": "A group has fewer cases than the {cases_least} needed, too few for a finding.",
    "small_cells": "Some counts are small, so the approximate methods are unreliable here.",
    "conflict": "Read alone, the odds ratio and the relative risk suggest different conclusions.",
    "reversed": "The pooled comparison and the one within strata disagree (Simpson's paradox).",
    "missing": "Some answers are missing and could change the comparison.",
    "unmeasured": "One group was not measured, so there is nothing to compare.",
    "unit": "The prompt is the unit of this comparison, not the single answer.",
    "limits": "Facts that the data do not record could change the comparison.",
    "experts": "People who know the field should be consulted before anyone acts on the result.",
}
TERMS = {
    "odds_ratio": "An odds ratio divides the odds of an outcome in one group by those in another.",
    "relative_risk": "A relative risk divides the share of one group by the share of another.",
    "balance_ratio": "A balance ratio divides the smaller rate by the larger; it is also"
    " called impact ratio.",
    "difference": "A difference of means or shares subtracts one group's value from another's.",
    "confidence_interval": "A confidence interval holds the values that agree with the data.",
    "p_value": "A p-value is the probability of data at least this extreme without a difference.",
    "chi_square": "A chi-square test compares counts with those expected without an association.",
    "exact_test": "An exact test adds up the probabilities of tables at least as extreme.",
    "strata": "A stratified analysis compares groups within levels of another variable.",
}
ANY = ""
"""Key of the sentence for values without one of their own."""
SENTENCES: Mapping[str, Mapping[str, str]] = {
    "direction": {
        NEITHER: "The $words of {$topic.estimate} shows no difference between the groups.",
        ANY: "The $words of {$topic.estimate} shows $more for {groups.$value.name} than for"
        " {groups.$other.name}.",
    },
    "significance": {
        "yes": "The $words is significant at the level {alpha} ({$topic.p}).",
        "no": "The $words is not significant at the level {alpha} ({$topic.p}).",
    },
    "interval": {
        "yes": "The {level} interval {$topic.interval} of the $words contains the value of no"
        " difference.",
        "no": "The {level} interval {$topic.interval} of the $words does not contain the value of"
        " no difference.",
    },
    "size": {ANY: "By Cohen's conventions the difference is $value."},
    "strata": {
        "reversed": "Within strata the association has the opposite direction.",
        "similar": "Within strata the association is about as strong as in the pooled comparison.",
        ANY: "Within strata the association is $value than in the pooled comparison.",
    },
    "agreement": {
        "similar": "The odds ratio and the relative risk are similar.",
        "moderate_difference": "The odds ratio and the relative risk differ moderately.",
        "conflicting": "The odds ratio and the relative risk are in conflict.",
    },
    "missing": {
        "some": "Answers are missing for {groups.$topic.name}: {groups.$topic.missing} of them.",
        "none": "No answers are missing for {groups.$topic.name}.",
    },
    "cases": {
        "yes": "The group {groups.$topic.name} has {groups.$topic.cases} cases and reaches the"
        " minimum of {cases_least}.",
        "no": "The group {groups.$topic.name} has {groups.$topic.cases} cases and falls short of"
        " the minimum of {cases_least}.",
    },
    "conclusion": {
        "disparity": "The conclusion is that there is a disparity beyond the tolerance of"
        " {tolerance}.",
        "no_disparity": "The conclusion is no disparity beyond the tolerance of {tolerance}.",
        "unmeasured": "The conclusion is that one group was not measured.",
        ANY: "The comparison is inconclusive.",
    },
    "caveat": CAVEATS,
    "definition": TERMS,
}
"""Sentences by the type of a claim, and by its value; by its topic where it has no value."""
MEASURE_WORDS = {
    "odds_ratio_conditional": "conditional odds ratio",
    "odds_ratio_within": "odds ratio within strata",
    "odds_ratio_adjusted": "adjusted odds ratio",
    "gap": "difference of means",
    "chi_square": "chi-square test",
    "fisher": "exact test of Fisher",
    "boschloo": "exact test of Boschloo",
    "cmh": "Cochran-Mantel-Haenszel test",
    "gap_test": "test of the difference",
}


def measure_words(name: str) -> str:
    """Return a measure or test in words."""
    return MEASURE_WORDS.get(name, name.replace("_", " "))
