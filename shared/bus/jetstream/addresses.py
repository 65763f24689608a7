"""Addresses of the servers of the bus, from `NATS_URL`."""

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from biaswatch.shared.errors import ConfigurationError

DEFAULT_PORTS = {"nats": 4222, "tls": 4222, "ws": 80, "wss": 443}
WEBSOCKETS = {"ws", "wss"}
EXAMPLE = "nats://host:4222, or several of one cluster: nats://one:4222,nats://two:4222"


@dataclass(frozen=True)
class ServerAddress:
    """One server of the bus."""

    host: str
    port: int
    url: str
    """As the client takes it, with the credentials it may hold."""

    def __str__(self) -> str:
        """Return host and port, without credentials."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def server_addresses(text: str) -> list[ServerAddress]:
    """Return the servers that `NATS_URL` names.

    A server without a scheme or credentials has those of the first server with some.

    Raises
    ------
    ConfigurationError
        An address is invalid. The message does not repeat it, as it may contain a password.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    scheme = next((part.partition("://")[0] for part in parts if "://" in part), "nats")
    whole = [part if "://" in part else f"{scheme}://{part}" for part in parts]
    urls = [_split(part, number) for number, part in enumerate(whole, 1)]
    if not urls:
        raise ConfigurationError(f"NATS_URL names no server. Write {EXAMPLE}.")
    if 0 < sum(url.scheme in WEBSOCKETS for url in urls) < len(urls):
        raise ConfigurationError(
            "NATS_URL mixes WebSocket addresses (ws, wss) with others (nats, tls). Use one kind."
        )
    credentials = next((_credentials(url) for url in urls if _credentials(url)), "")
    return [_address(url, credentials) for url in urls]


def _split(part: str, number: int) -> SplitResult:
    refusal = ConfigurationError(
        f"Address number {number} in NATS_URL is not that of a NATS server. Write {EXAMPLE}."
    )
    try:
        url = urlsplit(part)
        if url.scheme in DEFAULT_PORTS and url.hostname and url.port != 0:
            return url
    except ValueError:  # an invalid port or bracket
        raise refusal from None
    raise refusal


def _credentials(url: SplitResult) -> str:
    return url.netloc.rpartition("@")[0]


def _address(url: SplitResult, credentials: str) -> ServerAddress:
    host, port = url.hostname or "", url.port or DEFAULT_PORTS[url.scheme]
    address = ServerAddress(host, port, "")
    own = _credentials(url) or credentials
    netloc = f"{own}@{address}" if own else str(address)
    return ServerAddress(host, port, url._replace(netloc=netloc).geturl())
