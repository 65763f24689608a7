"""Connections to servers that others name: to the very address that was checked, and to no other.

The one guard of targets, webhooks and the builder's pages.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Collection

import httpx2

from biaswatch.shared.network.addresses import Address, is_public

MOST_CONNECTIONS = 1000
PORTS = {"http": 80, "https": 443}


class UnknownHostError(Exception):
    """No name server knows the host."""


class PrivateAddressError(Exception):
    """The host has an address that may not be reached."""

    def __init__(self, host: str, address: Address) -> None:
        super().__init__(f"The host {host} has the address {address}, which is not public.")
        self.host = host
        self.address = address


def is_named(host: str, hosts: Collection[str]) -> bool:
    """Return whether a host is one of these; `*.example.com` names all below example.com."""
    host = host.casefold()
    return any(
        host.endswith(each[1:]) if each.startswith("*.") else host == each
        for each in map(str.casefold, hosts)
    )


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
        self._private_hosts = frozenset(private_hosts)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; raise what `checked_address` raises."""
        host = request.url.host
        if not is_named(host, self._private_hosts):
            port = request.url.port or PORTS.get(request.url.scheme, PORTS["https"])
            address = await checked_address(host, port, is_public)
            request.extensions = {**request.extensions, "sni_hostname": host}
            request.url = request.url.copy_with(host=str(address))  # the Host header stays
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()
