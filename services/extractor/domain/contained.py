"""Whatever an extractor does with a text becomes numbers or a reason, and harms no other text."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from services.extractor.domain.extractor import (
    BatchExtractor,
    Extractor,
    Measured,
    Outcome,
    Reading,
    Unscorable,
)

NOT_FINITE = "the extractor gave no finite number"
WRONG_FEATURES = "the extractor gave other features than it names"
LONGEST_REASON = 80
"""Reasons are counted side by side; a whole text is no reason."""


def measured(extractor: Extractor, reading: Reading | None, why_none: str | None) -> Measured:
    """Measure one text; what cannot be measured has a reason, and never a number."""
    if reading is None:
        return {}, why_none
    return measured_all(extractor, [reading])[0]


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
    return {name: _number(outcome[name]) for name in features}, None


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
    return [_alone(_of_one(extractor), reading) for reading in readings]


def _of_one(extractor: BatchExtractor) -> Callable[[Reading], Outcome]:
    return lambda reading: extractor.measure_all([reading])[0]


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
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)
