"""What happens to a record whose handling failed: retry, dead letter, or exit."""

from dataclasses import dataclass

from biaswatch.shared.errors import (
    BackPressureError,
    BiaswatchError,
    ConfigurationError,
    PoisonError,
    TransientError,
    UsageError,
)

MAX_REASON_LENGTH = 500
MAX_DOUBLINGS = 30


@dataclass(frozen=True)
class RetryPolicy:
    """How often and after which delays a record is delivered again."""

    transient_attempts: int = 20
    """Deliveries while something outside is unavailable: about a quarter of an hour."""
    unexpected_attempts: int = 8
    """Deliveries when the handler raises an unexpected error."""
    first_delay_s: float = 1.0
    """The delay after the first failure; it doubles with every further one."""
    longest_delay_s: float = 60.0
    """The longest delay, unless the other side asked for more."""


@dataclass(frozen=True)
class Retry:
    """Deliver it again, not before the delay has passed."""

    delay_s: float


@dataclass(frozen=True)
class GiveUp:
    """Copy it to the dead letters with the reason, then terminate it."""

    reason: str
    error: str
    transient: bool = False
    """Whether something outside was unavailable for too long; otherwise the record is why."""


@dataclass(frozen=True)
class Exit:
    """Return the record to the bus and end the process: a person must change something first."""

    error: BiaswatchError


Decision = Retry | GiveUp | Exit


def decision_of(error: Exception, attempt: int, policy: RetryPolicy, jitter: float) -> Decision:
    """Decide what follows an error.

    Parameters
    ----------
    error
        What the handler, the decoder or the publisher raised.
    attempt
        Which delivery failed, counted from 1.
    jitter
        Uniform in [0, 1): spreads the retries of records that failed together.
    """
    if content_is_why(error):
        return GiveUp(_sentence(error), type(error).__name__)
    if isinstance(error, ConfigurationError):
        return Exit(error)
    transient = is_outage(error)
    attempts = policy.transient_attempts if transient else policy.unexpected_attempts
    if attempt >= attempts:
        reason = f"Given up after {attempt} attempts. The last one failed: {_sentence(error)}"
        return GiveUp(reason, type(error).__name__, transient)
    return Retry(delay_s(error, attempt, policy, jitter))


def content_is_why(error: Exception) -> bool:
    """Tell whether a record asks for something impossible, so that trying again cannot help.

    A UsageError below a handler is about what the record names: a run that is not in the store, or
    one in the archive. Other records are none the worse for it.
    """
    return isinstance(error, PoisonError | UsageError)


def is_outage(error: Exception) -> bool:
    """Tell whether something outside is unavailable for now."""
    lasting = isinstance(error, ConfigurationError) or content_is_why(error)
    return isinstance(error, BiaswatchError) and not lasting


def exhausted(attempt: int, policy: RetryPolicy) -> GiveUp | None:
    """Return GiveUp, before handling, for a record that was delivered too often."""
    if attempt <= policy.transient_attempts:
        return None
    return GiveUp(
        f"Delivered {attempt - 1} times and never acknowledged: its worker crashes or hangs on it.",
        "NeverSettled",
    )


def may_spoil_a_batch(error: Exception) -> bool:
    """Tell whether one record of a batch may have made the others fail."""
    return not isinstance(error, BiaswatchError) or content_is_why(error)


def is_planned_wait(error: Exception) -> bool:
    """Tell whether a stage waits for room on the bus, or until a time that it was told."""
    asked = isinstance(error, TransientError) and error.retry_after_s is not None
    return asked or isinstance(error, BackPressureError)


def delay_s(error: Exception, attempt: int, policy: RetryPolicy, jitter: float) -> float:
    """Return the delay after a failed attempt, counted from 1; jitter is uniform in [0, 1)."""
    asked = error.retry_after_s if isinstance(error, TransientError) else None
    first = min(asked, policy.first_delay_s) if asked else policy.first_delay_s
    doubled = min(policy.longest_delay_s, first * 2.0 ** min(attempt - 1, MAX_DOUBLINGS))
    return max(asked or 0.0, doubled * (0.5 + jitter / 2))


def _sentence(error: Exception) -> str:
    """Return the error on one line: a line break would end the header that carries it."""
    text = " ".join(str(error).split())
    named = text if isinstance(error, BiaswatchError) else f"{type(error).__name__}: {text}"
    return named if len(named) <= MAX_REASON_LENGTH else named[: MAX_REASON_LENGTH - 1] + "…"
