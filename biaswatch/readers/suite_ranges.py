"""Ranges that a suite's prompts name and the suite does not declare."""

import re
from collections import Counter
from itertools import islice

from biaswatch.shared.contracts import MeasuredPart, Suite

MAX_PROMPTS_READ = 200
RATING = MeasuredPart.RATING.value
_NAMED_RANGE = re.compile(
    r"\b(?:rat(?:e|ed|ing)|scor(?:e|ed|ing)|grade|scale)\b[^.\n]{0,80}?"
    r"\b(\d{1,3})(?: \([^)]{0,40}\))?"
    r"\s?(?:-|\u2013|to)\s?(\d{1,3})\b",
    re.IGNORECASE,
)


def undeclared_range(suite: Suite) -> str | None:
    """Return a sentence where the prompts name a range of the rating that is not declared."""
    if RATING not in suite.extractors or RATING in suite.ranges:
        return None
    named = Counter(
        (int(match[1]), int(match[2]))
        for probe in islice(suite.probes, MAX_PROMPTS_READ)
        for text in (*(m.content for m in probe.said), *probe.variables.values())
        if (match := _NAMED_RANGE.search(text)) and int(match[1]) < int(match[2])
    )
    if not named:
        return None
    (low, high), _ = named.most_common(1)[0]
    return (
        f"The prompts of {suite.name} ask for a rating from {low} to {high}, and the suite declares"
        f" no range, so intervals may leave the scale: add `ranges: {{rating: [{low}, {high}]}}`."
    )
