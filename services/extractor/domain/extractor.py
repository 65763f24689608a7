"""What an extractor is, and how whatever it does with a text becomes numbers or a reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from biaswatch.shared.contracts.response import LARGEST_VALUE


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


NOT_FINITE = "the extractor gave no finite number, or one beyond 1e150"
WRONG_FEATURES = "the extractor gave other features than it names"
LONGEST_REASON = 80
"""Reasons are counted side by side; a whole text is not a reason."""


def measured_all(extractor: Extractor, readings: Sequence[Reading]) -> list[Measured]:
    """Measure texts; one that the extractor fails on costs one text."""
    return [checked(extractor.features, outcome) for outcome in _outcomes(extractor, readings)]


def checked(features: Sequence[str], outcome: Outcome) -> Measured:
    """Return an outcome as it may be recorded: the features that were named, finite or null."""
    if isinstance(outcome, Unscorable):
        return {}, reason_of(outcome)
    if set(outcome) != set(features):
        return {}, WRONG_FEATURES
    if not all(_is_number(value) for value in outcome.values()):
        return {}, NOT_FINITE
    given = ((name, outcome[name]) for name in features)
    return {name: None if value is None else float(value) for name, value in given}, None


def reason_of(unscorable: Unscorable) -> str:
    """Return the reason on one short line."""
    reason = " ".join(str(unscorable).split()) or "no reason given"
    return reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…"


def _outcomes(extractor: Extractor, readings: Sequence[Reading]) -> Sequence[Outcome]:
    if not isinstance(extractor, BatchExtractor):
        return [_alone(extractor.measure, reading) for reading in readings]
    try:
        outcomes = extractor.measure_all(readings)
    except Exception:  # noqa: BLE001 - whose fault it is shows when each is tried alone
        outcomes = []
    if len(outcomes) == len(readings):
        return outcomes
    return [_alone(lambda one: extractor.measure_all([one])[0], each) for each in readings]


def _alone(measure: Callable[[Reading], Outcome], reading: Reading) -> Outcome:
    try:
        outcome = measure(reading)
    except Unscorable as unscorable:
        return unscorable
    except Exception as error:  # noqa: BLE001 - it is recorded, under its kind: its text may quote
        return Unscorable(f"the extractor failed: {type(error).__name__}")
    if not isinstance(outcome, Mapping | Unscorable):
        return Unscorable(WRONG_FEATURES)
    return outcome


def _is_number(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= LARGEST_VALUE  # which nan is not
