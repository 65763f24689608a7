"""What an extractor is: a name, a version, an instrument, and numbers read from a text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Reading:
    """What an extractor is given."""

    text: str
    expected: str | None = None
    """The right answer, where the probe has one."""
    baseline: str | None = None
    """The text to compare with, where the probe has one."""


class Unscorable(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """The text cannot be measured; the message is the reason, a few fixed words."""


class Extractor(Protocol):
    """Reads numbers from one text."""

    @property
    def name(self) -> str:
        """Its name, which is its file's."""

    @property
    def version(self) -> str:
        """Its version; another formula is another version."""

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its numbers."""

    @property
    def instrument(self) -> str:
        """What it measures with, in a few words: every result says it."""

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Return the numbers by name; null where one is undefined; raise Unscorable for none."""


Outcome = Mapping[str, float | None] | Unscorable
"""What a batch gives for one text."""


@runtime_checkable
class BatchExtractor(Protocol):
    """Reads numbers from many texts at once, because that is cheaper."""

    def measure_all(self, readings: Sequence[Reading]) -> Sequence[Outcome]:
        """Return one outcome for each text, in their order."""


def batch_of_one(extractor: BatchExtractor, reading: Reading) -> Mapping[str, float | None]:
    """Measure one text with what measures many; raise Unscorable where there are no numbers."""
    [outcome] = extractor.measure_all([reading])
    if isinstance(outcome, Unscorable):
        raise outcome
    return outcome


Measured = tuple[Mapping[str, float | None], str | None]
"""The numbers, or why there are none."""
