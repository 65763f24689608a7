"""Claims that a sentence makes about a subject, their truth, and their fixed sentences."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from biaswatch.services.evaluator.domain.subjects import cases_of, measure_of
from biaswatch.services.evaluator.domain.writing.slots import group_keys
from biaswatch.services.evaluator.domain.writing.subject_facts import (
    DIRECTED,
    NEITHER,
    SIZES,
    STRENGTHS,
    agreement_of,
    bounds_of,
    contains_null,
    higher_group,
    shows_difference,
    size_of,
    strata_of,
)
from biaswatch.shared.contracts import Measure, Subject

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
"""Caveats and their fixed sentences."""
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
"""Terms that a report may define, and their fixed sentences."""


class _Claim(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def is_right(self, subject: Subject) -> bool:
        """Tell whether the claim is right; a claim with unknown names is not."""
        fields = self.model_dump()
        answer = _ANSWERS[fields["type"]](self, subject)
        return answer is not None and answer == list(fields.values())[-1]


class DirectionClaim(_Claim):
    """Which group has more of the outcome, by the estimate of a measure."""

    type: Literal["direction"] = "direction"
    measure: str
    higher: str


class Significance(_Claim):
    """Significance of a test at the level of the subject."""

    type: Literal["significance"] = "significance"
    test: str
    significant: Literal["yes", "no"]


class Interval(_Claim):
    """Position of the value of no difference: in an interval or outside it."""

    type: Literal["interval"] = "interval"
    measure: str
    contains_null: Literal["yes", "no"]


class Size(_Claim):
    """How large the difference is, by Cohen's bounds."""

    type: Literal["size"] = "size"
    size: str


class Strata(_Claim):
    """Association within strata, compared with the pooled one."""

    type: Literal["strata"] = "strata"
    within: str


class AgreementClaim(_Claim):
    """Agreement of the odds ratio and the relative risk."""

    type: Literal["agreement"] = "agreement"
    agreement: str


class Missing(_Claim):
    """Missing answers of a group: some or none."""

    type: Literal["missing"] = "missing"
    group: str
    missing: Literal["some", "none"]


class CasesClaim(_Claim):
    """Cases of a group: enough for a finding, or too few."""

    type: Literal["cases"] = "cases"
    group: str
    enough: Literal["yes", "no"]


class ConclusionClaim(_Claim):
    """The verdict of the platform on a comparison of a run."""

    type: Literal["conclusion"] = "conclusion"
    conclusion: str


class Caveat(_Claim):
    """A reservation."""

    type: Literal["caveat"] = "caveat"
    about: str


class Definition(_Claim):
    """A general definition of a term, without a statement about these data."""

    type: Literal["definition"] = "definition"
    term: str


Claim = Annotated[
    DirectionClaim | Significance | Interval | Size | Strata | AgreementClaim | Missing
    | CasesClaim | ConclusionClaim | Caveat | Definition,
    Field(discriminator="type"),
]  # fmt: skip
CLAIMS: TypeAdapter[Claim] = TypeAdapter(Claim)


def claims_about(subject: Subject) -> list[Claim]:
    """Return every claim that can be made about a subject, right or wrong, in a fixed order."""
    return list(_claims(subject))


def right_claims(subject: Subject) -> list[Claim]:
    """Return the claims about a subject that are right."""
    return [claim for claim in claims_about(subject) if claim.is_right(subject)]


def turned(claim: Claim, subject: Subject) -> list[Claim]:
    """Return the wrong claims of the same kind about the same measure, test or group."""
    fixed = _topic(claim)
    return [
        other
        for other in claims_about(subject)
        if _topic(other) == fixed and not other.is_right(subject)
    ]


def _topic(claim: Claim) -> tuple[str, ...]:
    topics = claim.model_dump(include={"type", "measure", "test", "group", "about", "term"})
    return tuple(topics.values())


def _claims(subject: Subject) -> Iterator[Claim]:
    keys = group_keys(subject)
    for measure in subject.measures:
        if measure.value is not None:
            yield from _measure_claims(measure, keys)
    if size_of(subject):
        yield from (Size(size=size) for size in SIZES)
    if strata_of(subject):
        yield from (Strata(within=within) for within in STRENGTHS)
    if agreement_of(subject):
        agreements = ("similar", "moderate_difference", "conflicting")
        yield from (AgreementClaim(agreement=agreement) for agreement in agreements)
    yield from _group_claims(subject, keys)
    if subject.conclusion:
        yield from (ConclusionClaim(conclusion=verdict) for verdict in _verdicts(subject))
    yield from (Caveat(about=about) for about in caveats_of(subject))
    yield from (Definition(term=term) for term in TERMS)


def _measure_claims(measure: Measure, keys: tuple[str, str]) -> Iterator[Claim]:
    if measure.name in DIRECTED:
        for key in (*keys, NEITHER):
            yield DirectionClaim(measure=measure.name, higher=key)
    if bounds_of(measure) is not None:
        yield Interval(measure=measure.name, contains_null="yes")
        yield Interval(measure=measure.name, contains_null="no")
    if measure.p_value is not None:
        yield Significance(test=measure.name, significant="yes")
        yield Significance(test=measure.name, significant="no")


def _group_claims(subject: Subject, keys: tuple[str, str]) -> Iterator[Claim]:
    for key in keys:
        if len(subject.missing) == 2:
            yield Missing(group=key, missing="some")
            yield Missing(group=key, missing="none")
        if cases_of(subject):
            yield CasesClaim(group=key, enough="yes")
            yield CasesClaim(group=key, enough="no")


def _verdicts(subject: Subject) -> tuple[str, ...]:
    known = ("disparity", "no_disparity", "inconclusive", "unmeasured")
    return known if subject.conclusion in known else (*known, str(subject.conclusion))


def caveats_of(subject: Subject) -> list[str]:
    """Return the caveats that fit a subject."""
    general = {"causes", "nature", "limits", "experts"}
    if not shows_difference(subject):
        general.add("absence")
    return [name for name in CAVEATS if name in general or name in subject.caveats]


def mandatory_caveats(subject: Subject) -> list[str]:
    """Return the caveats that no report may omit."""
    optional = {"nature", "limits", "experts"}
    return [name for name in caveats_of(subject) if name not in optional]


def _of_group(key: str, subject: Subject, counts: tuple[int, ...]) -> int | None:
    keys = group_keys(subject)
    return counts[keys.index(key)] if key in keys and len(counts) == 2 else None


def _yes(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _significant(name: str, subject: Subject) -> str | None:
    test = measure_of(subject, name)
    return _yes(test.p_value <= subject.alpha) if test and test.p_value is not None else None


def _missing(key: str, subject: Subject) -> str | None:
    count = _of_group(key, subject, subject.missing)
    return None if count is None else "some" if count else "none"


def _enough(key: str, subject: Subject) -> str | None:
    count = _of_group(key, subject, cases_of(subject) or ())
    return None if count is None else _yes(count >= subject.cases_least)


_ANSWERS: dict[str, Callable[[Any, Subject], str | None]] = {
    "direction": lambda claim, subject: higher_group(subject, claim.measure),
    "significance": lambda claim, subject: _significant(claim.test, subject),
    "interval": lambda claim, subject: _yes(contains_null(measure_of(subject, claim.measure))),
    "size": lambda _, subject: size_of(subject),
    "strata": lambda _, subject: strata_of(subject),
    "agreement": lambda _, subject: agreement_of(subject),
    "missing": lambda claim, subject: _missing(claim.group, subject),
    "cases": lambda claim, subject: _enough(claim.group, subject),
    "conclusion": lambda _, subject: subject.conclusion,
    "caveat": lambda claim, subject: claim.about if claim.about in caveats_of(subject) else None,
    "definition": lambda claim, _: claim.term if claim.term in TERMS else None,
}
"""The right value of a claim's last field, by its type."""
