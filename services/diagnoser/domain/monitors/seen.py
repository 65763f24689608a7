"""What a closed round brought, however it was gathered: by asking, or by listening to traffic."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.diagnoser.domain.monitors.answers import Sorted
from services.diagnoser.domain.monitors.counting import Counted
from shared.contracts import Description


@dataclass(frozen=True)
class Seen:
    """By comparison: what is added to the evidence, and what stands behind it."""

    counted: Mapping[str, Counted]
    outside: Mapping[str, int]
    """Values beyond the declared range."""
    sets: Mapping[str, Sorted] = field(default_factory=dict)
    """The twins, for alarms to show; traffic has none."""
    described: tuple[Description, ...] = ()
    """What a window of traffic looked like."""
