"""Which sentences code understood: what is said of the statistics and not understood is not checked.

A sentence speaks of the statistics when it names a group, a measure, or evidence, differences or
causes. It is understood when a number of it was bound, or when one of the rules read what it says.
"""

import re

from biaswatch.services.evaluator.domain.checks.causes import speaks_of_causes
from biaswatch.services.evaluator.domain.checks.compared_measures import speaks_of_measures
from biaswatch.services.evaluator.domain.checks.directions import stated_directions
from biaswatch.services.evaluator.domain.checks.interval_sides import speaks_of_sides
from biaswatch.services.evaluator.domain.checks.significance import speaks_of_evidence
from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.shared.contracts import Subject

_TOPIC = re.compile(
    r"<g[01]>|<m:|\bsignifican|\binterval|\bp-?\s*value|\bchance\b|\bhypothes[ie]s|\bassociation|\bdifferen(?:ce|t)|\bdiffer"
    r"|\bdisparit|\bgap\b|\blikel(?:y|ihood)|\brates?\b|\bbias|\bdiscriminat|\bprejudice|\bthe\s+groups?\b|\bevidence\b"
)


def speaks_of_statistics(wording: Wording) -> bool:
    """Tell whether a sentence says something that code might be able to check."""
    return bool(wording.numbers or _TOPIC.search(wording.pattern))


def is_understood(wording: Wording, subject: Subject) -> bool:
    """Tell whether something that a sentence says of the statistics was read and compared with them."""
    return bool(
        wording.numbers
        or speaks_of_evidence(wording)
        or speaks_of_sides(wording)
        or speaks_of_causes(wording)
        or speaks_of_measures(wording)
        or stated_directions(wording, subject)
    )
