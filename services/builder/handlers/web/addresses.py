"""Which machines may be reached: public ones, looked at anew on every hop."""

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from shared.errors import UsageError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Allowed = Callable[[Address, int], bool]
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""IPv6 addresses that lead to IPv4 ones, private ones among them."""
PORTS = {"http": 80, "https": 443}


def public(address: Address, _port: int) -> bool:
    """Tell whether this is a machine of the public internet."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is not None:
            return public(inner, _port)
        if address in TRANSLATED or address.teredo is not None:
            return False
    return address.is_global and not address.is_multicast


@dataclass(frozen=True)
class Place:
    """Where a URL leads: the name it gives and the address that was looked at."""

    url: str
    scheme: str
    host: str
    port: int
    address: Address


async def place_of(url: str, allowed: Allowed) -> Place:
    """Look a URL's host up and make sure that all its addresses may be reached.

    The connection is then made to the address that was looked at, not to the name, which could
    lead elsewhere a moment later.

    Raises
    ------
    UsageError
        It is no URL of the web, it holds a password, or it leads into a private network.
    """
    scheme, host, port = _parts(url)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UsageError(f"The host {host} of {url} is not known.") from None
    addresses = [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found]
    for address in addresses:
        if not allowed(address, port):
            raise UsageError(
                f"{url} leads to {address}, which is in a private network; only public pages are"
                " read. Save the text as a file beside the plan instead."
            )
    return Place(url, scheme, host, port, addresses[0])


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
