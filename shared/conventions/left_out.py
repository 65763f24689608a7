"""Records without an answer, counted by reason with the attributes that were seen."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

MAX_NAMES = 12
"""Attribute names that are shown for a reason."""
MAX_NAME_CHARACTERS = 60


class OmissionReason(StrEnum):
    """Reason for leaving out a span or a row, in words."""

    UNREAD = "model calls without an answer in a known attribute"
    WAITING = "model calls that wait up to 45 seconds for log events with their texts"
    AGENTS = "agents without a text"
    OTHER = "spans of tools, retrieval or other operations"
    NO_CALL = "spans or events without the attributes of a model call"
    STEPS = "steps of agents or of other calls, whose answer is counted"
    NO_TEXT = "rows without an answer in the expected field"
    NO_ANSWER = "rows of other kinds"
    SHARE = "answers outside the mapping's share"


REMEDIES = {
    OmissionReason.UNREAD: "Map `text` to the attribute with the answer, or switch on the capture"
    " of content in the application. Messages that its limit of attributes cuts off are not read.",
    OmissionReason.NO_TEXT: "Map `text` to the field of the answer.",
    OmissionReason.NO_CALL: "If they are model calls, map `text` to the attribute with the answer.",
}


@dataclass
class LeftOut:
    """Numbers of records without an answer, by reason."""

    counts: Counter[str] = field(default_factory=Counter)
    names: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    """Names of their attributes or fields, by reason, in order of arrival."""

    def add(self, reason: str, names: Iterable[str] = (), count: int = 1) -> None:
        """Count records, and keep some names of their attributes."""
        self.counts[reason] += count
        seen = self.names[reason]
        for name in names:
            if len(seen) > MAX_NAMES:
                break
            seen.setdefault(name[:MAX_NAME_CHARACTERS])

    def update(self, other: "LeftOut") -> None:
        """Add the numbers and names of another count."""
        for reason, count in other.counts.items():
            self.add(reason, other.names[reason], count)

    def sentences(self) -> list[str]:
        """Return a sentence for each reason, with attributes and remedy where they help."""
        return [self._sentence(reason) for reason in sorted(self.counts)]

    def _sentence(self, reason: str) -> str:
        seen = list(self.names[reason])
        more = ", ..." if len(seen) > MAX_NAMES else ""
        names = f", with {', '.join(seen[:MAX_NAMES])}{more}" if seen else ""
        remedy = f" {REMEDIES[OmissionReason(reason)]}" if reason in REMEDIES else ""
        return f"Left out: {reason} ({self.counts[reason]:,}{names}).{remedy}"
