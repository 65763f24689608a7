"""Outgoing HTTP requests behind a guard against private addresses."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum, auto

import httpx2

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        (
            "168.63.129.16/32",  # a cloud's own server, which tells machines their secrets
            "192.0.0.0/24",  # IETF protocol assignments, a cloud's metadata among them
            "192.88.99.0/24",  # relays of 6to4
            "2001::/32",  # Teredo: a tunnel to whatever its server says
        ),
    )
)
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
"""The assigned part of the public IPv6 internet, without fec0::/10 and fd00::/8."""
_IPV4_COMPATIBLE = ipaddress.ip_network("::/96")
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/96"))
"""Networks whose last 32 bits are an IPv4 address (RFC 6052)."""
_ISATAP = (0x00005EFE, 0x02005EFE)
"""Prefixes of the IPv4 address in an ISATAP address (RFC 5214)."""


def is_public(address: Address | str) -> bool:
    """Tell whether an address is on the public internet, in any notation.

    An IPv6 address that embeds an IPv4 address is as public as that address. The rest of
    64:ff9b:1::/48 (NAT64) embeds addresses at unknown positions and is not public.
    """
    if isinstance(address, str):
        address = ipaddress.ip_address(address.partition("%")[0])
    if any(address in network for network in _NOT_PUBLIC) or address.is_multicast:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if (embedded := _embedded(address)) is not None:
            return is_public(embedded)
        if address not in _GLOBAL_UNICAST:
            return False
    return address.is_global


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address within: mapped, compatible, 6to4, NAT64 or ISATAP."""
    if embedded := address.ipv4_mapped or address.sixtofour:
        return embedded
    number = int(address)
    tunnelled = number >> 32 & 0xFFFFFFFF in _ISATAP
    if tunnelled or any(address in network for network in (*_NAT64, _IPV4_COMPATIBLE)):
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None


MAX_CONNECTIONS = 1000
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
    """Return whether a host is in a list; `*.example.com` includes all subdomains."""
    host = host.casefold()
    return any(
        host.endswith(name[1:]) if name.startswith("*.") else host == name
        for name in map(str.casefold, hosts)
    )


def is_private_host(host: str) -> bool:
    """Return whether a host is this machine or an address that is not public, without a lookup.

    Examples
    --------
    >>> is_private_host("localhost"), is_private_host("10.0.0.1"), is_private_host("example.com")
    (True, True, False)
    """
    try:
        return not is_public(host)
    except ValueError:  # a name
        return host.casefold() == "localhost"


async def checked_address(host: str, port: int, allowed: Callable[[Address], bool]) -> Address:
    """Look up a host and return an address; all addresses of the host must be allowed.

    Connect to the address instead of the name, which could resolve differently later.

    Raises
    ------
    UnknownHostError
        The host does not exist.
    PrivateAddressError
        One of its addresses is not allowed.
    """
    try:
        infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        infos = []
    addresses = [ipaddress.ip_address(str(info[4][0]).partition("%")[0]) for info in infos]
    if not addresses:
        raise UnknownHostError(f"The host {host} is not known.")
    for address in addresses:
        if not allowed(address):
            raise PrivateAddressError(host, address)
    return addresses[0]


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Connects to public addresses, and to private ones of some hosts.

    The host is looked up once. Redirects are not followed, and proxies are not used.
    """

    def __init__(self, private_hosts: Collection[str] = ()) -> None:
        limits = httpx2.Limits(max_connections=MAX_CONNECTIONS)
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
