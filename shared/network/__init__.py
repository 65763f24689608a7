"""Reaching servers that others name: public addresses alone, and when to come back."""

from biaswatch.shared.network.backoff import retry_after_s
from biaswatch.shared.network.guard import (
    Address,
    GuardedTransport,
    PrivateAddressError,
    UnknownHostError,
    checked_address,
    is_named,
    is_public,
)

__all__ = [
    "Address",
    "GuardedTransport",
    "PrivateAddressError",
    "UnknownHostError",
    "checked_address",
    "is_named",
    "is_public",
    "retry_after_s",
]
