"""The fixed sentence of each claim, with slots for its numbers."""

from biaswatch.services.evaluator.domain.subjects import TESTS, interval_of, measure_of
from biaswatch.services.evaluator.domain.writing.claims import (
    CAVEATS,
    TERMS,
    AgreementClaim,
    CasesClaim,
    Caveat,
    Claim,
    ConclusionClaim,
    Definition,
    DirectionClaim,
    Interval,
    Missing,
    Significance,
    Size,
    Strata,
)
from biaswatch.services.evaluator.domain.writing.slots import group_keys
from biaswatch.services.evaluator.domain.writing.subject_facts import NEITHER
from biaswatch.shared.contracts import Subject

MEASURE_WORDS = {
    "odds_ratio": "odds ratio",
    "odds_ratio_conditional": "conditional odds ratio",
    "relative_risk": "relative risk",
    "risk_difference": "risk difference",
    "impact_ratio": "impact ratio",
    "odds_ratio_within": "odds ratio within strata",
    "odds_ratio_adjusted": "adjusted odds ratio",
    "gap": "difference of means",
    "effect_size": "effect size",
    "chi_square": "chi-square test",
    "fisher": "exact test of Fisher",
    "boschloo": "exact test of Boschloo",
    "cmh": "Cochran-Mantel-Haenszel test",
    "gap_test": "test of the difference",
}
_STRATA = {
    "reversed": "Within strata the association has the opposite direction.",
    "weaker": "Within strata the association is weaker than in the pooled comparison.",
    "similar": "Within strata the association is about as strong as in the pooled comparison.",
    "stronger": "Within strata the association is stronger than in the pooled comparison.",
}
_AGREEMENT = {
    "similar": "The odds ratio and the relative risk are similar.",
    "moderate_difference": "The odds ratio and the relative risk differ moderately.",
    "conflicting": "The odds ratio and the relative risk are in conflict.",
}
_CONCLUSION = {
    "disparity": "The conclusion is that there is a disparity beyond the tolerance of {tolerance}.",
    "no_disparity": "The conclusion is no disparity beyond the tolerance of {tolerance}.",
    "unmeasured": "The conclusion is that one group was not measured.",
}
_INCONCLUSIVE = "The comparison is inconclusive."


def fixed_sentence(claim: Claim, subject: Subject) -> str:
    """Return the sentence that says exactly what a claim says."""
    match claim:
        case DirectionClaim():
            return _direction(claim, subject)
        case Significance():
            return _significance(claim, subject)
        case Interval():
            return _interval(claim, subject)
        case Missing() | CasesClaim():
            return _group_sentence(claim)
        case ConclusionClaim():
            return _CONCLUSION.get(claim.conclusion, _INCONCLUSIVE)
        case Size():
            return f"By Cohen's conventions the difference is {claim.size}."
        case _:
            return _listed_sentence(claim)


def _listed_sentence(claim: Strata | AgreementClaim | Caveat | Definition) -> str:
    match claim:
        case Strata():
            return _STRATA[claim.within]
        case AgreementClaim():
            return _AGREEMENT[claim.agreement]
        case Caveat():
            return CAVEATS[claim.about]
        case Definition():
            return TERMS[claim.term]


def _significance(claim: Significance, subject: Subject) -> str:
    known = measure_of(subject, claim.test)
    text = f" ({{{claim.test}.p}})" if known and known.p_value is not None else ""
    word = "significant" if claim.significant == "yes" else "not significant"
    return f"The {measure_words(claim.test)} is {word} at the level {{alpha}}{text}."


def _interval(claim: Interval, subject: Subject) -> str:
    verb = "contains" if claim.contains_null == "yes" else "does not contain"
    measure = measure_of(subject, claim.measure)
    text = f" {{{claim.measure}.interval}}" if measure and interval_of(measure) else ""
    return (
        f"The {{level}} interval{text} of the {measure_words(claim.measure)} {verb} the"
        " value of no difference."
    )


def _group_sentence(claim: Missing | CasesClaim) -> str:
    group = f"groups.{claim.group}"
    if isinstance(claim, CasesClaim):
        verb = "reaches" if claim.enough == "yes" else "falls short of"
        return (
            f"The group {{{group}.name}} has {{{group}.cases}} cases and {verb} the minimum of"
            " {cases_least}."
        )
    if claim.missing == "none":
        return f"No answers are missing for {{{group}.name}}."
    return f"Answers are missing for {{{group}.name}}: {{{group}.missing}} of them."


def _direction(claim: DirectionClaim, subject: Subject) -> str:
    keys = group_keys(subject)
    measure = measure_words(claim.measure)
    estimate = f"{measure} of {{{claim.measure}.estimate}}"
    higher = "a higher mean" if claim.measure in {"gap", "effect_size"} else "more of the outcome"
    if claim.higher == NEITHER:
        return f"The {estimate} shows no difference between the groups."
    other = keys[1] if claim.higher == keys[0] else keys[0]
    return f"The {estimate} shows {higher} for {_name(claim.higher)} than for {_name(other)}."


def _name(key: str) -> str:
    return f"{{groups.{key}.name}}"


def measure_words(name: str) -> str:
    """Return a measure or test in words."""
    return MEASURE_WORDS.get(name, name.replace("_", " "))


def estimate_sentence(name: str, subject: Subject) -> str | None:
    """Return the sentence that states an estimate or a test; None where it has no number."""
    measure = measure_of(subject, name)
    if measure is None:
        return None
    words = measure_words(name)
    if name in TESTS:
        return f"The {words} has the statistic {{{name}.statistic}} ({{{name}.p}})."
    if measure.value == measure.p_value:
        return None
    text = f"The {words} is {{{name}.estimate}}"
    if interval_of(measure):
        text += f" ({{level}} interval {{{name}.interval}})"
    return f"{text}."
