"""Controls: questions to judges with known replies, and their outcomes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from biaswatch.shared.analysis.judges.languages import ENGLISH
from biaswatch.shared.stats.judges.results import (
    AUTHOR,
    GROUP,
    INSTRUCTION,
    LENGTH,
    PLAIN,
    STYLE,
    TOGETHER,
    ControlOutcome,
)

PAIRS_PER_CONTROL = 1.5
"""Pairs of swapped copies per control of a kind and direction: 60."""
OTHER_AUTHOR = "another model"
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
    language: str = ENGLISH

    @property
    def name(self) -> str:
        """Name that holds all fields but the texts; the language last, unless it is English."""
        direction = POSITIVE if self.positive else NEGATIVE
        parts = (self.kind, direction, self.examined, str(self.variant), str(self.number))
        return _SEPARATOR.join((*parts, self.language) if self.language != ENGLISH else parts)


@dataclass(frozen=True)
class ControlPlan:
    """A control before its texts are drawn."""

    kind: str
    positive: bool
    number: int
    examined: str = PLAIN
    variant: int = 0
    word: str = ""
    """The author or group that is swapped in."""
    groups: Sequence[str] = ()
    """Groups to draw both persons from."""

    def people(self, rng: Random) -> Sequence[str]:
        """Return the groups of the persons, in their order; empty for names."""
        if self.examined == TOGETHER:
            return rng.sample(list(self.groups), 2)
        return (self.word,) if self.examined == GROUP else ()

    @property
    def seed(self) -> str:
        """The seed of the texts, which swapped copies share."""
        return f"{self.kind}/{self.positive}/{self.examined}/{self.number}"

    def control(self, expected: str, parts: Mapping[str, str]) -> Control:
        """Return the control with its texts."""
        return Control(
            self.kind, self.positive, self.number, expected, parts, self.examined, self.variant
        )


def planned_controls(
    kinds: Sequence[str], count: int, *, groups: Sequence[str] = (), author: str | None = None
) -> Iterator[ControlPlan]:
    """Yield the plan of an examination.

    Parameters
    ----------
    kinds
        The kinds of question, at least one.
    count
        Controls of each kind and direction; also of each direction with a hidden instruction, a
        longer text, numbers and emphatic words, and two groups of the study in one text.
    groups
        Labels of the study: each is in the same texts; without two, groups are not examined.
    author
        The judge's own model: each of these texts is signed by it and by another one.
    """
    for kind in kinds:
        for positive in (True, False):
            yield from (ControlPlan(kind, positive, number) for number in range(count))
    for examined in (INSTRUCTION, LENGTH, STYLE):
        yield from _mixed(kinds, 2 * count, examined)
    if len(groups) > 1:
        for plan in _mixed(kinds, 2 * count, TOGETHER):
            yield replace(plan, groups=groups)
    authors = (author, OTHER_AUTHOR) if author else ()
    for examined, words in ((AUTHOR, authors), (GROUP, groups)):
        for variant, word in enumerate(words if len(words) > 1 else ()):
            yield from _mixed(kinds, swapped_pairs(count), examined, variant, word)


def _mixed(
    kinds: Sequence[str], count: int, examined: str, variant: int = 0, word: str = ""
) -> Iterator[ControlPlan]:
    """Yield controls of all kinds in turn, half of them in each direction."""
    for number in range(count):
        kind = kinds[number // 2 % len(kinds)]
        yield ControlPlan(kind, number % 2 == 0, number, examined, variant, word)


def controls_count(kinds: int, count: int, groups: int, *, author: bool = True) -> int:
    """Return the number of `planned_controls`, which is the number of calls to a judge.

    Examples
    --------
    >>> controls_count(3, 40, groups=2)
    800
    """
    swapped = 2 * author + (groups if groups > 1 else 0)
    mixed = len((INSTRUCTION, LENGTH, STYLE)) + (groups > 1)
    return 2 * count * (kinds + mixed) + swapped * swapped_pairs(count)


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
    if len(parts) not in {5, 6}:
        return None
    kind, direction, examined, variant, number, *named = parts
    language = named[0] if named else ENGLISH
    return ControlOutcome(
        kind,
        direction == POSITIVE,
        int(number),
        reply is not None and reply == expected,
        expected or "",
        reply,
        examined,
        variants.get(variant_key(examined, int(variant), language), ""),
        answered,
        copied,
        language,
    )


def variant_key(examined: str, variant: int, language: str = ENGLISH) -> str:
    """Return the key of the word of a swapped copy."""
    return f"{examined}{variant}" + ("" if language == ENGLISH else f"-{language}")


def swapped_pairs(controls_per_kind: int) -> int:
    """Return the number of texts that are shown with each swapped word."""
    return int(PAIRS_PER_CONTROL * controls_per_kind)
