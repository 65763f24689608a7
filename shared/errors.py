"""The error tree: every error is a sentence for a person and names its outcome on the bus.

BiaswatchError
├── TransientError          try again later
│   └── BackPressureError   the work queue is full: wait until it drains
├── PoisonError             this record can never be handled: dead letter
│   ├── UndecodableError
│   └── OversizeError
└── ConfigurationError      nothing will work until a person changes something: the process ends
    └── UsageError          the person typed something that cannot be done
        ├── NotFoundError   what the person named is not in the store
        └── ArchivedError   what the person named is in the archive, not in the store
"""

from enum import StrEnum


class Outcome(StrEnum):
    """What the worker does with the record whose handling ended in an error."""

    RETRY = "retry"
    DEAD_LETTER = "dead_letter"
    EXIT = "exit"


class BiaswatchError(Exception):
    """The root of all errors raised on purpose; its text says what happened and what to do."""

    outcome: Outcome = Outcome.RETRY
    exit_code: int = 3
    """3: the same command may succeed later; 1 is for findings, 2 for a mistake of the user."""


class TransientError(BiaswatchError):
    """Something outside is unavailable for now; the same record may succeed later."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """What the other side asked for, if it did."""


class BackPressureError(TransientError):
    """The stream takes no more until its consumers have caught up."""


class PoisonError(BiaswatchError):
    """The record itself is the problem; trying again cannot help."""

    outcome = Outcome.DEAD_LETTER


class UndecodableError(PoisonError):
    """The bytes are not a record of the expected kind."""


class OversizeError(PoisonError):
    """A record is larger than the bus carries."""


class ConfigurationError(BiaswatchError):
    """A setting, file, server or permission is wrong; the process cannot do its work."""

    outcome = Outcome.EXIT
    exit_code = 2


class StoreNotPreparedError(ConfigurationError):
    """The store has not been brought into this version's shape yet."""


class UsageError(ConfigurationError):
    """The user asked for something that does not exist or cannot be done."""


class NotFoundError(UsageError):
    """What the user named is not in the store."""


class ArchivedError(UsageError):
    """What the user named is in the archive, and has to be restored before it can be read."""
