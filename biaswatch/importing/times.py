"""Times of answers in the forms of logs."""

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from email.utils import parsedate_to_datetime
from typing import Any

from biaswatch.shared.conventions.answers import moment_of
from biaswatch.shared.errors import UsageError

DIGITS_OF_UNITS = ((11, 10**9), (14, 10**6), (17, 10**3), (20, 1))
"""Unix time in seconds, milliseconds, microseconds and nanoseconds, by its number of digits."""
FORMS = "2026-11-21T09:14:03Z, Unix time, or Sat, 21 Nov 2026 09:14:03 GMT"


def moment_in(where: str, value: Any) -> datetime | None:
    """Return the time of an answer, or None; a time without a zone is in UTC.

    Raises
    ------
    UsageError
        The value is not a time; the message names the location.
    """
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, bool):
        raise UsageError(f"{where}: the time is true or false. Write it like {FORMS}.")
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return _written(where, str(value).strip())
    for digits, factor in DIGITS_OF_UNITS:
        if number.is_finite() and 0 <= number < 10**digits:
            return moment_of(int(number * factor))
    raise UsageError(f"{where}: the time is not a Unix time.")


def _written(where: str, text: str) -> datetime:
    for read in (_iso, parsedate_to_datetime):
        try:
            return _in_utc(read(text))
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    raise UsageError(f"{where}: the time is not like {FORMS}.")


def _iso(text: str) -> datetime:
    """Read ISO 8601, also with ` UTC` for the zone."""
    return datetime.fromisoformat(text.removesuffix(" UTC"))


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
