"""What an extractor is: a name, a version, and numbers read from a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Reading:
    """What an extractor is given."""

    text: str
    expected: str | None = None
    """The right answer, where the probe has one."""


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

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Give the numbers by name; null where one is undefined; raise Unscorable for none."""


Measured = tuple[Mapping[str, float | None], str | None]


def measured(extractor: Extractor, reading: Reading | None, why_none: str | None) -> Measured:
    """Measure one text; what cannot be measured has a reason, and never a number."""
    if reading is None:
        return {}, why_none
    try:
        values = extractor.measure(reading)
    except Unscorable as unscorable:
        return {}, str(unscorable)
    return {name: values.get(name) for name in extractor.features}, None
