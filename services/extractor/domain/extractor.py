"""The interface of extractors, and checks of their results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from biaswatch.shared.contracts import LARGEST_VALUE, ScoredOption
from biaswatch.shared.contracts.derived_features import SEPARATOR, base_of
from biaswatch.shared.contracts.tools import Tool, ToolStep
from biaswatch.shared.parsing.ratings import Scale


@dataclass(frozen=True)
class Reading:
    """Input of an extractor."""

    text: str
    expected: str | None = None
    """The expected answer of the probe, if it has one."""
    baseline: str | None = None
    """The baseline text of the probe, if it has one."""
    cut_off: bool = False
    """True if the text ended at a limit of tokens: its last word may be incomplete."""
    scale: Scale = (None, None)
    """The least and the largest rating, where the suite declares them."""
    options: Mapping[str, str] | None = None
    """The options to choose from: the text of each by its letter; None where they are unknown."""
    scored: Sequence[ScoredOption] = ()
    """The answers that the target scored instead of writing one."""
    tools: Sequence[Tool] = ()
    """The tools that the target could call."""
    tool_steps: Sequence[ToolStep] | None = None
    """The tools that it called; None where no steps were recorded."""
    abandoned: bool = False
    """True if it called tools up to the limit of steps, and gave no answer."""


class Unscorable(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """The text cannot be measured; the message is the reason, a short fixed phrase."""


class Extractor(Protocol):
    """Measures one text."""

    @property
    def name(self) -> str:
        """Its unique name."""

    @property
    def version(self) -> str:
        """Its version, which changes with its formula."""

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its features."""

    @property
    def instrument(self) -> str:
        """A short description of its method, recorded with every result."""

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Return values by feature, None if undefined; raise Unscorable if the text has none."""


Outcome = Mapping[str, float | None] | Unscorable
"""Result of a batch for one text."""


@runtime_checkable
class BatchExtractor(Protocol):
    """Measures many texts at once, if that is cheaper."""

    def measure_all(self, readings: Sequence[Reading]) -> Sequence[Outcome]:
        """Return one outcome per text, in order."""


@dataclass(frozen=True)
class ReadingExtractor:
    """An extractor made of one function of the text and what is known about it."""

    name: str
    version: str
    features: tuple[str, ...]
    instrument: str
    measure: Callable[[Reading], Mapping[str, float | None]]
    """See `Extractor.measure`."""


@dataclass(frozen=True)
class FunctionExtractor:
    """An extractor made of one function of the text."""

    name: str
    version: str
    features: tuple[str, ...]
    instrument: str
    function: Callable[[str], Mapping[str, float | None]]

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """See `Extractor.measure`."""
        return self.function(reading.text)


def batch_of_one(extractor: BatchExtractor, reading: Reading) -> Mapping[str, float | None]:
    """Measure one text with a batch extractor; raise Unscorable if it has no values."""
    [outcome] = extractor.measure_all([reading])
    if isinstance(outcome, Unscorable):
        raise outcome
    return outcome


Measured = tuple[Mapping[str, float | None], str | None]
"""The values, or the reason why there are none."""

NOT_FINITE = "the extractor gave no finite number, or one beyond 1e150"
WRONG_FEATURES = "the extractor gave other features than it names"
MAX_DERIVED = 500
"""Largest number of features that derive from the declared ones."""
MAX_REASON_CHARACTERS = 80
"""Longer reasons are cut."""


def measured_all(extractor: Extractor, readings: Sequence[Reading]) -> list[Measured]:
    """Measure texts; a failure on one text does not affect the others."""
    return [checked(extractor.features, outcome) for outcome in _outcomes(extractor, readings)]


def checked(features: Sequence[str], outcome: Outcome) -> Measured:
    """Return an outcome as it is recorded: finite or null.

    It has the declared features, and possibly others that derive from them: `called@refund`.
    """
    if isinstance(outcome, Unscorable):
        return {}, reason_of(outcome)
    derived = [name for name in outcome if name not in features]
    known = all(SEPARATOR in name and base_of(name) in features for name in derived)
    if not set(features) <= set(outcome) or not known or len(derived) > MAX_DERIVED:
        return {}, WRONG_FEATURES
    if not all(_is_number(value) for value in outcome.values()):
        return {}, NOT_FINITE
    values = ((name, outcome[name]) for name in (*features, *derived))
    return {name: None if value is None else float(value) for name, value in values}, None


def reason_of(unscorable: Unscorable) -> str:
    """Return the reason on one short line."""
    reason = " ".join(str(unscorable).split()) or "no reason given"
    return (
        reason
        if len(reason) <= MAX_REASON_CHARACTERS
        else reason[: MAX_REASON_CHARACTERS - 1] + "…"
    )


def _outcomes(extractor: Extractor, readings: Sequence[Reading]) -> Sequence[Outcome]:
    if not isinstance(extractor, BatchExtractor):
        return [_alone(extractor.measure, reading) for reading in readings]
    try:
        outcomes = extractor.measure_all(readings)
    except Exception:  # noqa: BLE001 - each text is then tried alone
        outcomes = []
    if len(outcomes) == len(readings):
        return outcomes
    return [_alone(lambda text: extractor.measure_all([text])[0], reading) for reading in readings]


def _alone(measure: Callable[[Reading], Outcome], reading: Reading) -> Outcome:
    try:
        outcome = measure(reading)
    except Unscorable as unscorable:
        return unscorable
    except Exception as error:  # noqa: BLE001 - recorded by its type, as its message may quote the text
        return Unscorable(f"the extractor failed: {type(error).__name__}")
    if not isinstance(outcome, Mapping | Unscorable):
        return Unscorable(WRONG_FEATURES)
    return outcome


def _is_number(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= LARGEST_VALUE  # False for NaN
