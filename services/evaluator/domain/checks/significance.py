"""What a sentence says of evidence, against what the tests and intervals of a subject show."""

import re
from collections.abc import Iterator

from biaswatch.services.evaluator.domain.checks.evidence_claims import (
    EvidenceClaim,
    evidence_claims,
)
from biaswatch.services.evaluator.domain.checks.interval_sides import includes_no_difference
from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.services.evaluator.domain.subjects import measure_of
from biaswatch.shared.contracts import Subject

_SAID = {
    EvidenceClaim.SHOWN: "Significance is claimed, but the test does not show it.",
    EvidenceClaim.NOT_SHOWN: "Significance is denied, but the test shows it.",
}
_EQUALITY = "Equality is claimed, but what is not shown is not thereby disproved."
_DENIED = "A difference is denied that the statistics show."


def significance_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault for evidence that is claimed and not there, or there and denied."""
    for at, clause, claim in evidence_claims(_without_outcome(wording.pattern, subject)):
        measure = _named(clause) or _named_before(wording.pattern[:at])
        truth = is_significant(subject, measure, clause)
        if truth is None:
            continue
        if claim is EvidenceClaim.EQUAL:
            if truth:
                yield "significance", _DENIED
            elif not _decided_equal(subject):
                yield "significance", _EQUALITY
        elif (claim is EvidenceClaim.SHOWN) is not truth:
            yield "significance", _SAID[claim]


def _without_outcome(pattern: str, subject: Subject) -> str:
    """Return a sentence without what became of people: who passed, passed no significance test."""
    if "hypothes" in pattern or "null" in pattern:
        return pattern
    words = "|".join(re.escape(word) for word in {subject.value.lower(), subject.outcome.lower()})
    became = r"\b(?:who|that|were|was|be|being|been|not|<g[01]>|to|get|got)"
    return re.sub(
        rf"(?P<who>{became}) (?:{words})\b(?! (?:the|this|its) \w*test)", r"\g<who> so", pattern
    )


def speaks_of_evidence(wording: Wording) -> bool:
    """Tell whether a sentence is read as saying that something is shown, or is not."""
    return bool(evidence_claims(wording.pattern))


def is_significant(subject: Subject, name: str | None, clause: str = "") -> bool | None:
    """Return whether a measure's test, its interval, or else the subject's own test shows anything."""
    if name is None and re.search(r"\bstrat(?:a|um|ified)\b", clause):
        name = "cmh"
    if name is not None and (measure := measure_of(subject, name)):
        if measure.p_value is not None:
            return measure.p_value < subject.alpha
        includes = includes_no_difference(measure)
        if includes is not None:
            return not includes
    tests = [m for m in subject.measures if m.p_value is not None]
    return tests[0].p_value < subject.alpha if tests and tests[0].p_value is not None else None


def _decided_equal(subject: Subject) -> bool:
    return any("no disparity beyond the tolerance" in note for note in subject.notes)


def _named(clause: str) -> str | None:
    names = re.findall(r"<m:([\w-]+)>", clause)
    return names[0] if names else None


def _named_before(text: str) -> str | None:
    names = re.findall(r"<m:([\w-]+)>", text)
    return names[-1] if names else None
