"""All that code alone can say of a report."""

import re

from services.evaluator.domain.numbers import interval_faults, number_faults
from services.evaluator.domain.profiles import Profile
from services.evaluator.domain.structure import Passage, passages, sentences, structural_faults
from shared.contracts import Fault, Subject

# A sentence that denies is what the outline asks for; judges read the finer cases.
_DENIES = re.compile(r"\b(?:not|no|never|nor|neither|cannot|without|rather than)\b", re.IGNORECASE)


def faults_of(report: str, subject: Subject, profile: Profile) -> tuple[Fault, ...]:
    """Return what is wrong with a report; nothing said means that code found nothing."""
    found = passages(report)
    return (
        *structural_faults(found),
        *number_faults(found, subject),
        *interval_faults(found, subject),
        *_attributions(found, profile),
    )


def _attributions(found: list[Passage], profile: Profile) -> list[Fault]:
    return [
        Fault(
            kind="attribution",
            where=passage.title[:80],
            sentence=f"The words {flag[0]!r} may attribute the outcome to"
            f" {profile.attribution}: read that sentence.",
        )
        for passage in found
        for sentence in sentences(passage.text)
        if not _DENIES.search(sentence)
        for flag in profile.flags.finditer(sentence)
    ]
