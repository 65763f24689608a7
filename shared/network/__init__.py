"""Reaching servers that others name: public addresses alone, and when to come back."""

from biaswatch.shared.network.addresses import Address, is_public
from biaswatch.shared.network.guard import (
    GuardedTransport,
    PrivateAddressError,
    UnknownHostError,
    checked_address,
    is_named,
)
from biaswatch.shared.network.retry_after import retry_after_s

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
