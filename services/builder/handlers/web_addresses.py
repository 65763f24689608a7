"""Where the URL of a page leads: to a public machine, looked at anew on every hop."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from shared.errors import UsageError
from shared.network import (
    Address,
    PrivateAddressError,
    UnknownHostError,
    checked_address,
    is_public,
)

Allowed = Callable[[Address, int], bool]
PORTS = {"http": 80, "https": 443}


def public(address: Address, _port: int) -> bool:
    """Tell whether this is a machine of the public internet, whatever the port."""
    return is_public(address)


@dataclass(frozen=True)
class CheckedAddress:
    """Where a URL leads: the name it gives and the address that was looked at."""

    url: str
    scheme: str
    host: str
    port: int
    address: Address


async def place_of(url: str, allowed: Allowed) -> CheckedAddress:
    """Look a URL's host up and make sure that all its addresses may be reached.

    Raises
    ------
    UsageError
        It is no URL of the web, it holds a password, or it leads into a private network.
    """
    scheme, host, port = _parts(url)
    try:
        address = await checked_address(host, port, lambda found: allowed(found, port))
    except UnknownHostError:
        raise UsageError(f"The host {host} of {url} is not known.") from None
    except PrivateAddressError as error:
        raise UsageError(
            f"{url} leads to {error.address}, which is in a private network; only public pages are"
            " read. Save the text as a file beside the plan instead."
        ) from None
    return CheckedAddress(url, scheme, host, port, address)


def _parts(url: str) -> tuple[str, str, int]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError(f"{url!r} is no address of a page.") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise UsageError(f"{url!r} is no address of a page: it begins with http:// or https://.")
    if parts.username is not None or parts.password is not None:
        raise UsageError("A page's address must hold no user or password.")
    return parts.scheme, parts.hostname, port or PORTS[parts.scheme]
