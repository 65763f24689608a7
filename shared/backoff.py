"""Delays between attempts: doubled after each failure, or as long as the server asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

MAX_DOUBLINGS = 30


@dataclass(frozen=True)
class Backoff:
    """Delays that double with every failure in a row."""

    first_s: float
    max_s: float
    max_requested_s: float = 3600.0
    """Longest delay that a server may ask for."""

    def delay_s(self, failures: int, jitter: float = 1.0) -> float:
        """Return the delay after a number of failures in a row, counted from 1.

        Parameters
        ----------
        failures
            Failures since the last success.
        jitter
            Uniform in [0, 1]; spreads the attempts of several callers over half of the delay.
        """
        doubled = self.first_s * 2.0 ** min(max(failures - 1, 0), MAX_DOUBLINGS)
        return min(self.max_s, doubled) * (0.5 + jitter / 2)

    def requested_s(self, requested_s: float | None, failures: int, jitter: float) -> float:
        """Return the delay that a server asks for, or the usual one if that is longer."""
        return max(min(requested_s or 0.0, self.max_requested_s), self.delay_s(failures, jitter))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the delay that a server asks for; a date counts from the date of the reply."""
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / divisor
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        then, now = (parsedate_to_datetime(headers.get(n, "")) for n in ("retry-after", "date"))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None
