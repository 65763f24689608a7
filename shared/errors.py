"""The errors of biaswatch; the message of each is a sentence for users.

BiaswatchError
├── TransientError            a dependency is unavailable for now
│   └── BackPressureError     the work queue is full: wait until it drains
├── PoisonError               this record can never be handled
│   ├── UndecodableError
│   └── OversizeError
├── ConfigurationError        a setting or file must be corrected first
│   └── StoreNotPreparedError
└── UsageError                the request cannot be fulfilled
    ├── NotFoundError         the named thing is not in the store
    └── ArchivedError         the named thing is in the archive, not in the store

`shared/bus/retry_policy.py` decides the outcome of a record whose handler raised one.
"""

import errno
from tempfile import gettempdir

DISK_REFUSES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
"""Disk errors that are not bugs."""


class BiaswatchError(Exception):
    """The base of all errors raised on purpose; the message says what to do."""

    exit_code: int = 3
    """3: the command may succeed later; 1 is for findings, 2 for usage errors."""


class TransientError(BiaswatchError):
    """A dependency is unavailable for now; the same record may succeed later."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """The delay that the dependency asked for, if any."""


class BackPressureError(TransientError):
    """The stream is full until its consumers have caught up."""


class PoisonError(BiaswatchError):
    """The record itself is the problem; trying again cannot help."""


class UndecodableError(PoisonError):
    """The bytes are not a record of the expected kind."""


class OversizeError(PoisonError):
    """A record exceeds the message size of the bus."""


class ConfigurationError(BiaswatchError):
    """A setting, file, server or permission is wrong; the process cannot do its work."""

    exit_code = 2


class StoreNotPreparedError(ConfigurationError):
    """The schema of the store is not that of this version."""


class UsageError(BiaswatchError, ValueError):
    """The request names something that does not exist or cannot be done."""

    exit_code = 2


class NotFoundError(UsageError):
    """The named thing is not in the store."""


class ArchivedError(UsageError):
    """The named thing is in the archive and must be restored first."""


def explained(error: Exception) -> Exception:
    """Return the TransientError of a disk that takes nothing; any other error unchanged."""
    if not isinstance(error, OSError) or error.errno not in DISK_REFUSES:
        return error
    place = error.filename or f"{gettempdir()}, the folder of temporary files,"
    return TransientError(f"{place} cannot be written ({error.strerror}). Make room on its disk.")
