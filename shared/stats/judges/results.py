"""Outcomes of controls and the results of a judge; only the standard library is imported."""

from dataclasses import dataclass, field
from typing import ClassVar

from biaswatch.shared.stats.estimate import Estimate

PLAIN, INSTRUCTION, LENGTH, AUTHOR, GROUP = "plain", "instruction", "length", "author", "group"
STYLE, TOGETHER = "style", "together"
"""Aspects of a judge: the kind alone, and changes that must not change a reply."""
SWAPPED = (AUTHOR, GROUP)
"""Controls with copies that differ in one word: an author or a group."""

CONDITION = "if it judges these texts as well as the controls"
"""The condition of a rate that is corrected by errors on controls."""


@dataclass(frozen=True)
class ControlOutcome:
    """The reply of a judge to one control."""

    kind: str
    """The kind of question, or the dimension."""
    positive: bool
    """The direction: whether the right reply is the positive one."""
    number: int
    """The number of the text, which swapped copies share."""
    right: bool
    """False also for a reply that cannot be read."""
    expected: str
    """The right reply, in words."""
    reply: str | None
    """The reply as read; None if it is missing or cannot be read."""
    examined: str = PLAIN
    variant: str = ""
    """The author or group of a swapped copy."""
    answered: bool = True
    """False without any reply."""
    copied: bool = False
    """True if the reply repeats the question."""
    language: str = "en"


@dataclass(frozen=True)
class KindResult:
    """The result of a judge for one kind of question."""

    __pydantic_config__: ClassVar = {
        "extra": "ignore",
        "use_attribute_docstrings": True,
        "allow_inf_nan": False,
    }

    kind: str
    """The kind of question, or the dimension."""
    sensitivity: Estimate
    """Share right where the positive reply is right, in [0, 1]."""
    specificity: Estimate
    """Share right where the negative reply is right, in [0, 1]."""
    right: tuple[int, int] = (0, 0)
    """Right replies to questions with a positive and with a negative reply."""
    controls: tuple[int, int] = (0, 0)
    """Controls with a positive and with a negative reply."""
    unread: int = 0
    """Replies that are missing or cannot be read."""
    replies: dict[str, int] = field(default_factory=dict)
    """Count of each reply, of those without a swapped word."""
    believed: bool = True
    """True if verdicts of this kind count."""
    reason: str | None = None
    """Reason why they do not, or why the kind was not examined."""
    language: str = "en"
    """The language of the controls."""


@dataclass(frozen=True)
class SwapDifference:
    """Errors on texts with one word swapped in, against the same texts with other words."""

    examined: str
    variant: str
    pairs: int
    errors: float
    """Share of wrong replies with this word, in [0, 1]."""
    other_errors: float
    """Mean share of wrong replies with the other words."""
    p_adjusted: float
    """P-value of one-sided sign flips for more errors with this word, Holm-corrected over words."""
