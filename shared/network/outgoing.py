"""Outgoing HTTP requests: clients behind the guard, and failures as one error with a reason."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum, auto

import httpx2

from biaswatch.shared.network.guard import (
    Address,
    GuardedTransport,
    PrivateAddressError,
    UnknownHostError,
)


class Unanswered(StrEnum):
    """Reasons for a request without a reply."""

    UNKNOWN_HOST = auto()
    PRIVATE_ADDRESS = auto()
    INVALID_URL = auto()
    TIMEOUT = auto()
    NO_CONNECTION = auto()


class RequestFailedError(Exception):
    """A request got no reply; the message names the host, and neither path nor headers."""

    def __init__(self, reason: Unanswered, message: str, *, address: Address | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.address = address
        """The private address of the host, if that is the reason."""


def outgoing_client(
    private_hosts: Collection[str] | None = (),
    *,
    timeout_s: float,
    headers: Mapping[str, str] | None = None,
    auth: tuple[str, str] | None = None,
) -> httpx2.AsyncClient:
    """Return a client that connects to public addresses only, and without proxies.

    Parameters
    ----------
    private_hosts
        Hosts that may have private addresses. None for addresses that the operator configured: no
        guard, and the proxies of the environment.
    """
    return httpx2.AsyncClient(
        transport=None if private_hosts is None else GuardedTransport(private_hosts),
        timeout=timeout_s,
        headers=headers,
        auth=auth,
        trust_env=private_hosts is None,
    )


@asynccontextmanager
async def request_failures(url: str, timeout_s: float) -> AsyncIterator[None]:
    """Bound the time of a request, and raise RequestFailedError if it gets no reply."""
    host = host_of(url) or "the server"
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except UnknownHostError:
        message = f"The host {host} is not known."
        raise RequestFailedError(Unanswered.UNKNOWN_HOST, message) from None
    except PrivateAddressError as error:
        message = f"The host {host} has a private address."
        raise RequestFailedError(
            Unanswered.PRIVATE_ADDRESS, message, address=error.address
        ) from None
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol):
        raise RequestFailedError(Unanswered.INVALID_URL, "The address is invalid.") from None
    except (TimeoutError, httpx2.TimeoutException) as error:
        message = f"{host} does not answer ({type(error).__name__})."
        raise RequestFailedError(Unanswered.TIMEOUT, message) from None
    except httpx2.HTTPError as error:
        message = f"{host} does not answer ({type(error).__name__})."
        raise RequestFailedError(Unanswered.NO_CONNECTION, message) from None


def host_of(url: str) -> str | None:
    """Return the host of an address, the only part that is not secret; None if it is invalid."""
    try:
        return httpx2.URL(url).host or None
    except (httpx2.InvalidURL, ValueError):
        return None
