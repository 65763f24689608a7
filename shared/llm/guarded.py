"""HTTP to addresses users name: private ones only where the operator has said so.

The address is looked up once and that very address is connected to, so that a name cannot point
elsewhere between the check and the call. Redirects are not followed, proxies not used.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Collection

import httpx2

from shared.llm.port import CallFailed, Failure


class Guarded(httpx2.AsyncBaseTransport):
    """Connects to public addresses, and to private ones of the hosts it is given."""

    def __init__(self, private_hosts: Collection[str] = ()) -> None:
        self._inner = httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_connections=1000))
        self._private_hosts = {host.casefold() for host in private_hosts}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, or raise CallFailed where its address is off limits."""
        host = request.url.host
        if host.casefold() not in self._private_hosts:
            address = await _public_address(host, request.url.port or 443)
            request.extensions = {**request.extensions, "sni_hostname": host}
            request.url = request.url.copy_with(host=address)  # the Host header stays as it was
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._inner.aclose()


async def _public_address(host: str, port: int) -> str:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise CallFailed(Failure.UNREACHABLE, f"The host {host} is not known.") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not addresses or not all(is_public(address) for address in addresses):
        raise CallFailed(
            Failure.OFF_LIMITS,
            f"The host {host} has a private address. If it may be asked, name it in"
            " BIASWATCH_GENERATOR_PRIVATE_HOSTS for the generator.",
        )
    return addresses[0]


def is_public(address: str) -> bool:
    """Tell whether an address is one of the internet's, however it is written."""
    found = ipaddress.ip_address(address.partition("%")[0])
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    public = found.is_global and not found.is_multicast
    return public and (inner is None or inner.is_global)
