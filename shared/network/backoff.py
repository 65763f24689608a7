"""When a server wants to be asked again."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait; a date counts from the answer's own, so no clock is read."""
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
