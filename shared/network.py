"""Reaching servers that others name: public addresses alone, and when to come back."""

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Collection, Mapping
from email.utils import parsedate_to_datetime

import httpx2

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
MOST_CONNECTIONS = 1000
_NOT_PUBLIC = (
    ipaddress.ip_network("192.0.0.0/24"),  # IETF protocol assignments
    ipaddress.ip_network("fec0::/10"),  # site-local, as private as fd00::/8
    ipaddress.ip_network("2001::/32"),  # Teredo: a tunnel to whatever its server says
)
_IPV4_COMPATIBLE = ipaddress.ip_network("::/96")
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/96"))
"""Where the last 32 bits are the IPv4 address that is reached (RFC 6052)."""
_LOCAL_NAT64 = ipaddress.ip_network("64:ff9b:1::/48")


class UnknownHostError(Exception):
    """No name server knows the host."""


class PrivateAddressError(Exception):
    """The host has an address that may not be reached."""

    def __init__(self, host: str, address: Address) -> None:
        super().__init__(f"The host {host} has the address {address}, which is not public.")
        self.address = address


def is_public(address: Address | str) -> bool:
    """Tell whether an address is on the public internet, however it is written.

    An IPv6 address that leads to an IPv4 one is as public as that.
    """
    if isinstance(address, str):
        address = ipaddress.ip_address(address.partition("%")[0])
    if any(address in network for network in _NOT_PUBLIC) or address.is_multicast:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if (embedded := _embedded(address)) is not None:
            return is_public(embedded)
        if address in _LOCAL_NAT64:  # embedded elsewhere, as only its network knows
            return False
    return address.is_global


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address within: mapped, compatible, 6to4 or NAT64."""
    if found := address.ipv4_mapped or address.sixtofour:
        return found
    if any(address in network for network in (*_NAT64, _IPV4_COMPATIBLE)):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


async def checked_address(host: str, port: int, allowed: Callable[[Address], bool]) -> Address:
    """Look a host up and return an address to connect to; all it has must be allowed.

    Connect to that address and not to the name, which could lead elsewhere a moment later.

    Raises
    ------
    UnknownHostError
        There is no such host.
    PrivateAddressError
        One of its addresses is not allowed.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        found = []
    addresses = [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found]
    if not addresses:
        raise UnknownHostError(f"The host {host} is not known.")
    for address in addresses:
        if not allowed(address):
            raise PrivateAddressError(host, address)
    return addresses[0]


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Connects to public addresses, and to private ones of the hosts it is given.

    The host is looked up once and that very address is connected to. Redirects are not followed,
    proxies not used.
    """

    def __init__(self, private_hosts: Collection[str] = ()) -> None:
        limits = httpx2.Limits(max_connections=MOST_CONNECTIONS)
        self._inner = httpx2.AsyncHTTPTransport(limits=limits)
        self._private_hosts = {host.casefold() for host in private_hosts}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; raise what `checked_address` raises."""
        host = request.url.host
        if host.casefold() not in self._private_hosts:
            address = await checked_address(host, request.url.port or 443, is_public)
            request.extensions = {**request.extensions, "sni_hostname": host}
            request.url = request.url.copy_with(host=str(address))  # the Host header stays
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


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
