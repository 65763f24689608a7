"""Which addresses are on the public internet, however they are written; pure."""

import ipaddress

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
"""All that is assigned of the public IPv6 internet; fec0::/10 and fd00::/8 are outside."""
_IPV4_COMPATIBLE = ipaddress.ip_network("::/96")
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/96"))
"""Where the last 32 bits are the IPv4 address that is reached (RFC 6052)."""
_ISATAP = (0x00005EFE, 0x02005EFE)
"""What stands before an IPv4 address at the end of an ISATAP address (RFC 5214)."""


def is_public(address: Address | str) -> bool:
    """Tell whether an address is on the public internet, however it is written.

    An IPv6 address that leads to an IPv4 one is as public as that. What is left of NAT64's
    64:ff9b:1::/48 embeds an address where only its network knows, so it is not.
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
    if found := address.ipv4_mapped or address.sixtofour:
        return found
    number = int(address)
    tunnelled = number >> 32 & 0xFFFFFFFF in _ISATAP
    if tunnelled or any(address in network for network in (*_NAT64, _IPV4_COMPATIBLE)):
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None
