"""Counts what calls to one target did; a bounded number of targets have names of their own."""

from services.generator.domain.pace import Pace
from shared.contracts import Target
from shared.llm.port import Failure
from shared.telemetry import ALLOWED, CALL_SECONDS, CALLS, COST, KEPT, TOKENS

MOST_NAMES = 50
OTHERS = "others"
"""What further targets are counted as: a metric must not grow with what users type."""

_named: set[str] = set()


class Meter:
    """The metrics of one target."""

    def __init__(self, target: Target) -> None:
        name = f"{target.provider}:{target.model}"[:96]
        if target.provider == "replay":
            name = "replay"
        if name in _named or len(_named) < MOST_NAMES:
            _named.add(name)
        else:
            name = OTHERS
        self._name = name

    def tried(self, seconds: float, failure: Failure | None) -> None:
        """Count one try."""
        CALLS.labels(self._name, failure.value if failure else "answered").inc()
        CALL_SECONDS.labels(self._name).observe(max(0.0, seconds))

    def spent(self, read: int | None, written: int | None, cost: float | None) -> None:
        """Count tokens and money, as far as they are known."""
        TOKENS.labels(self._name, "read").inc(read or 0)
        TOKENS.labels(self._name, "written").inc(written or 0)
        COST.labels(self._name).inc(cost or 0.0)

    def kept(self) -> None:
        """Count a call that needed not be made."""
        KEPT.labels(self._name).inc()

    def paced(self, pace: Pace) -> None:
        """Show how many may be under way."""
        ALLOWED.labels(self._name).set(pace.allowed)
