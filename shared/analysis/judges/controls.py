"""Controls: questions to judges with known replies, and their outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from biaswatch.shared.stats.judges.standings import PLAIN, ControlOutcome

CONTROLS_EACH = 40
"""Controls of each kind and direction, of which 30 have to be right."""
PAIRS_PER_CONTROL = 1.5
"""Pairs of swapped copies per control of a kind and direction: 60."""
POSITIVE, NEGATIVE = "positive", "negative"
_SEPARATOR = "-"


@dataclass(frozen=True)
class Control:
    """A question to a judge with a known reply."""

    kind: str
    """The kind of question, or the dimension of the rubric."""
    positive: bool
    """The direction: whether the right reply is the positive one."""
    number: int
    expected: str
    """The right reply."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """The texts of the question, by name."""
    examined: str = PLAIN
    """The kind alone, or what must not change the reply."""
    variant: int = 0
    """The place of the author or group of a swapped copy among those of the study."""

    @property
    def name(self) -> str:
        """The name, from which everything but the texts can be read again."""
        direction = POSITIVE if self.positive else NEGATIVE
        parts = (self.kind, direction, self.examined, str(self.variant), str(self.number))
        return _SEPARATOR.join(parts)


def outcome_of(
    name: str,
    reply: str | None,
    expected: str | None,
    variants: Mapping[str, str],
    *,
    answered: bool,
    copied: bool = False,
) -> ControlOutcome | None:
    """Return the outcome of a control by its name; None for another name.

    `variants` holds the words of swapped copies, by `variant_key`.
    """
    parts = name.split(_SEPARATOR)
    if len(parts) != 5:
        return None
    kind, direction, examined, variant, number = parts
    return ControlOutcome(
        kind,
        direction == POSITIVE,
        int(number),
        reply is not None and reply == expected,
        expected or "",
        reply,
        examined,
        variants.get(variant_key(examined, int(variant)), ""),
        answered,
        copied,
    )


def variant_key(examined: str, variant: int) -> str:
    """Return the key of the word of a swapped copy."""
    return f"{examined}{variant}"


def swapped_pairs(controls_each: int) -> int:
    """Return the number of texts that are shown with each swapped word."""
    return int(PAIRS_PER_CONTROL * controls_each)
