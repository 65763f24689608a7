"""The report that a board reads, written by code from the slots of a subject.

It states what was compared, what was found in everyday units, how certain that is, what it does
not say, and what to do next; no model writes it.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from biaswatch.services.evaluator.domain.subjects import group_keys, shows_difference
from biaswatch.services.evaluator.domain.writing.claims import mandatory_caveats, right_claims
from biaswatch.services.evaluator.domain.writing.draft import Draft, Section, Sentence
from biaswatch.services.evaluator.domain.writing.outline import ReportSection
from biaswatch.services.evaluator.domain.writing.slots import SLOT, slots_of
from biaswatch.shared.contracts import Subject

COMPARED = (
    "The report compares {one.name} and {two.name}; the outcome is {outcome} ({value}).",
    "The groups have {one.cases} and {two.cases} cases, {cases} in total.",
)
EVERYDAY = (
    "The outcome {value} applies to about {one.per_hundred} of {one.name} and about"
    " {two.per_hundred} of {two.name}."
)
FOUND = (
    EVERYDAY,
    "The mean is {one.mean} for {one.name} and {two.mean} for {two.name}.",
    "The shares lie {difference.points} apart.",
)
UNDEFINED = "The ratios are not defined for these data."
REVIEW = "Review the process that produced the outcomes, and repeat the measurement."
COLLECT = "Collect further cases where the decision depends on this comparison."
TESTS = ("gap_test", "chi_square", "fisher")
HEADLINE = ("gap", "risk_difference", "relative_risk", "odds_ratio")
TITLES = ("Comparison", "Findings", "Certainty", "Limits", "Next steps")
BOARD_OUTLINE = tuple(ReportSection(4, title, 1, 12) for title in TITLES)


def board_draft(subject: Subject) -> Draft:
    """Return the report as a draft whose claims are all right."""
    verdict = subject.conclusion
    shown = verdict == "disparity" if verdict else shows_difference(subject)
    caveats = dict.fromkeys([*mandatory_caveats(subject), "nature", "limits"])
    parts = (
        _stated(subject, COMPARED),
        _findings(subject),
        _certainty(subject),
        _claimed(subject, "caveat", caveats),
        [Sentence(REVIEW if shown else COLLECT), *_claimed(subject, "caveat", ["experts"])],
    )
    sections = [Section(title, tuple(part)) for title, part in zip(TITLES, parts, strict=True)]
    return Draft(tuple(sections), BOARD_OUTLINE)


def _stated(subject: Subject, texts: Iterable[str]) -> Iterator[Sentence]:
    """Yield the sentences whose slots the subject has."""
    slots, (one, two) = slots_of(subject), group_keys(subject)
    for text in texts:
        own = text.replace("{one.", f"{{groups.{one}.").replace("{two.", f"{{groups.{two}.")
        if all(match[1] in slots for match in SLOT.finditer(own)):
            yield Sentence(own)


def _claimed(subject: Subject, kind: str, topics: Iterable[str] = ("",)) -> Iterator[Sentence]:
    """Yield the right claims of a type, in the order of their topics."""
    right = right_claims(subject)
    for topic in topics:
        claims = [claim for claim in right if (claim.type, claim.topic) == (kind, topic)]
        yield from (Sentence(claim.sentence(subject), (claim,)) for claim in claims)


def _findings(subject: Subject) -> Iterator[Sentence]:
    yield from _stated(subject, FOUND)
    yield from islice(_claimed(subject, "direction", HEADLINE), 1)
    for kind in ("size", "strata", "conclusion"):
        yield from _claimed(subject, kind)
    if not (slots_of(subject).keys() & {"odds_ratio.estimate", "gap.estimate"}):
        yield Sentence(UNDEFINED)


def _certainty(subject: Subject) -> Iterator[Sentence]:
    yield from islice(_claimed(subject, "interval", HEADLINE), 1)
    yield from _claimed(subject, "significance", [subject.test] if subject.test else TESTS)
    yield from _claimed(subject, "cases", group_keys(subject))
