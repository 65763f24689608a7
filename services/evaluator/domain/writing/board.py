"""The report that a board reads, written by code from the slots of a subject.

It states what was compared, what was found in everyday units, how certain that is, what it does
not say, and what to do next; no model writes it.
"""

from collections.abc import Iterator

from biaswatch.services.evaluator.domain.writing.claims import (
    CasesClaim,
    Caveat,
    Claim,
    ConclusionClaim,
    DirectionClaim,
    Interval,
    Significance,
    Size,
    Strata,
    mandatory_caveats,
    right_claims,
)
from biaswatch.services.evaluator.domain.writing.draft import Draft, Section, Sentence
from biaswatch.services.evaluator.domain.writing.fixed_sentences import fixed_sentence
from biaswatch.services.evaluator.domain.writing.outline import ReportSection
from biaswatch.services.evaluator.domain.writing.slots import group_keys, slots_of
from biaswatch.services.evaluator.domain.writing.subject_facts import shows_difference
from biaswatch.shared.contracts import Subject

COMPARED = "Comparison"
FOUND = "Findings"
CERTAINTY = "Certainty"
LIMITS = "Limits"
NEXT = "Next steps"
BOARD_OUTLINE = tuple(
    ReportSection(4, title, 1, 12) for title in (COMPARED, FOUND, CERTAINTY, LIMITS, NEXT)
)
TESTS = ("gap_test", "chi_square", "fisher")
HEADLINE = ("gap", "risk_difference", "relative_risk", "odds_ratio")


def board_draft(subject: Subject) -> Draft:
    """Return the report as a draft whose claims are all right."""
    sections = (
        Section(COMPARED, tuple(_compared(subject))),
        Section(FOUND, tuple(_findings(subject))),
        Section(CERTAINTY, tuple(_certainty(subject))),
        Section(LIMITS, tuple(_limits(subject))),
        Section(NEXT, tuple(_next(subject))),
    )
    return Draft(sections, BOARD_OUTLINE)


def _compared(subject: Subject) -> Iterator[Sentence]:
    one, two = group_keys(subject)
    names = f"{{groups.{one}.name}} and {{groups.{two}.name}}"
    yield Sentence(f"The report compares {names}; the outcome is {{outcome}} ({{value}}).")
    if f"groups.{one}.cases" in slots_of(subject):
        first, second = f"{{groups.{one}.cases}}", f"{{groups.{two}.cases}}"
        yield Sentence(f"The groups have {first} and {second} cases, {{cases}} in total.")


def _findings(subject: Subject) -> Iterator[Sentence]:
    slots = slots_of(subject)
    yield from _everyday(subject, slots)
    directions = [_first(subject, DirectionClaim, measure=measure) for measure in HEADLINE]
    yield from [_sentence(claim, subject) for claim in directions if claim is not None][:1]
    kinds: tuple[type[Claim], ...] = (Size, Strata, ConclusionClaim)
    for kind in kinds:
        if claim := _first(subject, kind):
            yield _sentence(claim, subject)
    if not (slots.keys() & {"odds_ratio.estimate", "gap.estimate"}):
        yield Sentence("The ratios are not defined for these data.")


def _everyday(subject: Subject, slots: dict[str, str]) -> Iterator[Sentence]:
    """Yield both groups in everyday units: cases in a hundred, or means."""
    one, two = (f"groups.{key}" for key in group_keys(subject))
    if f"{one}.per_hundred" in slots and f"{two}.per_hundred" in slots:
        yield Sentence(
            f"The outcome {{value}} applies to about {{{one}.per_hundred}} of {{{one}.name}}"
            f" and about {{{two}.per_hundred}} of {{{two}.name}}."
        )
    if f"{one}.mean" in slots and f"{two}.mean" in slots:
        yield Sentence(
            f"The mean is {{{one}.mean}} for {{{one}.name}} and {{{two}.mean}} for {{{two}.name}}."
        )
    if "difference.points" in slots:
        yield Sentence("The shares lie {difference.points} apart.")


def _certainty(subject: Subject) -> Iterator[Sentence]:
    for name in HEADLINE:
        if claim := _first(subject, Interval, measure=name):
            yield _sentence(claim, subject)
            break
    for name in (subject.test,) if subject.test else TESTS:
        if claim := _first(subject, Significance, test=name):
            yield _sentence(claim, subject)
    for claim in right_claims(subject):
        if isinstance(claim, CasesClaim):
            yield _sentence(claim, subject)


def _limits(subject: Subject) -> Iterator[Sentence]:
    for about in dict.fromkeys([*mandatory_caveats(subject), "nature", "limits"]):
        yield _sentence(Caveat(about=about), subject)


def _next(subject: Subject) -> Iterator[Sentence]:
    if _shown(subject):
        yield Sentence("Review the process that produced the outcomes, and repeat the measurement.")
    else:
        yield Sentence("Collect further cases where the decision depends on this comparison.")
    yield _sentence(Caveat(about="experts"), subject)


def _shown(subject: Subject) -> bool:
    if subject.conclusion:
        return subject.conclusion == "disparity"
    return shows_difference(subject)


def _first(subject: Subject, kind: type[Claim], **fields: str) -> Claim | None:
    for claim in right_claims(subject):
        if isinstance(claim, kind) and fields.items() <= claim.model_dump().items():
            return claim
    return None


def _sentence(claim: Claim, subject: Subject) -> Sentence:
    assert claim.is_right(subject)  # noqa: S101 - the claims are derived from the subject
    return Sentence(fixed_sentence(claim, subject), (claim,))
