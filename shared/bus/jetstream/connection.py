"""One connection to the bus, which survives restarts of the server."""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from random import sample
from typing import Any

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import UnexpectedEOF

from biaswatch.shared.bus.jetstream.addresses import ServerAddress, server_addresses
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.telemetry import log

RECONNECT_WAIT_S = 1
CONNECT_S = 10.0
CONNECT_RETRY_S = 0.1
CHECK_S = 5
"""How long a server's port may take to open; a host that is gone does not even refuse."""
FLUSH_S, NEVER_S = 10.0, 1_000_000
PING_EVERY_S = 15
"""With two unanswered pings, a connection whose server is gone is made anew within a minute."""
DIED = (ConnectionError, UnexpectedEOF)


class Connection:
    """A nats client, and callbacks for its reconnection."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name
        self.lost = asyncio.Event()
        """Set when the client has given up: the process must end and be started again."""
        self._on_reconnect: list[Callable[[], None]] = []
        self._flushes: set[asyncio.Future[None]] = set()

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        name: str,
        seed_file: Path | None = None,
        ca_file: Path | None = None,
        patience_s: float = 10,
    ) -> "Connection":
        """Connect to a server that `url` names, waiting up to `patience_s` for one to start.

        Several servers of a cluster have commas between them; the client goes on to another
        where the one it is connected to ends.

        Raises
        ------
        TransientError
            No server answers, or it ends before it has answered.
        ConfigurationError
            The address is invalid, or the server refuses the key.
        """
        servers = server_addresses(url)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience_s
        while True:
            first = await _await_listener(servers, max(0.0, deadline - loop.time()))
            connection = cls(Client(), name)
            rest = [server for server in servers if server != first]
            try:
                await connection._connect([first, *rest], seed_file, ca_file)
            except TransientError:
                if loop.time() >= deadline:
                    raise
                await asyncio.sleep(CONNECT_RETRY_S)
            else:
                return connection

    async def _connect(
        self, servers: Sequence[ServerAddress], seed_file: Path | None, ca_file: Path | None
    ) -> None:
        failure: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def on_error(error: Exception) -> None:
            why = str(error) or type(error).__name__  # a time-out has no text
            log("bus").warning("the bus reports an error", error=why, client=self.name)
            if not failure.done() and not isinstance(
                error, TimeoutError
            ):  # a slow server does not refuse
                failure.set_result(error)

        connecting: asyncio.Future[Any] = asyncio.ensure_future(
            self.client.connect(
                [server.url for server in servers],
                dont_randomize=True,
                name=self.name,
                inbox_prefix=inbox_prefix(self.name),
                nkeys_seed_str=_seed(seed_file),
                max_reconnect_attempts=-1,
                reconnect_time_wait=RECONNECT_WAIT_S,
                ping_interval=PING_EVERY_S,
                error_cb=on_error,
                reconnected_cb=self._reconnected,
                closed_cb=self._closed,
                skip_subject_validation=True,
                tls=_tls(ca_file),
            )
        )
        # A refused client would retry for ever, so the first error ends the attempt.
        await asyncio.wait(
            [connecting, failure], timeout=CONNECT_S, return_when=asyncio.FIRST_COMPLETED
        )
        if connecting.done() and not connecting.exception():
            return
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        await self.close()
        cause = failure.result() if failure.done() else None
        # A server that dies before the handshake has not refused this client.
        if cause is None or isinstance(cause, DIED) or "empty response from server" in str(cause):
            raise TransientError(
                f"The NATS server at {servers[0]} does not answer {self.name}"
                f" ({cause or f'nothing in {CONNECT_S:g} s'}). If it is not just starting, look at"
                " its log."
            ) from cause
        raise ConfigurationError(
            f"The NATS server at {servers[0]} refuses {self.name}: {cause}. Check the key"
            " (BIASWATCH_NATS_SEED_FILE) and the server's permissions (`biaswatch admin keys`)."
        ) from cause

    @property
    def trouble(self) -> str | None:
        """Why nothing can be sent now; None while there is a connection."""
        if self.client.is_connected:
            return None
        return "The connection to the bus is lost; it is being made again."

    async def check_available(self) -> None:
        """Check that the server answers.

        Raises
        ------
        TransientError
            The server is not connected, or does not answer within `CHECK_S`.
        """
        if self.trouble:
            raise TransientError(self.trouble)
        await self.flush(CHECK_S)

    def on_reconnect(self, call: Callable[[], None]) -> None:
        """Call this each time the connection has come back."""
        self._on_reconnect.append(call)

    async def _reconnected(self) -> None:
        log("bus").info("the bus is back", client=self.name)
        self._forget_flushes()
        for call in self._on_reconnect:
            call()

    async def _closed(self) -> None:
        self._forget_flushes()
        self.lost.set()

    async def flush(self, within_s: float = FLUSH_S) -> None:
        """Wait until all sent data have reached the server.

        Raises
        ------
        TransientError
            The server does not answer within `within_s` seconds.
        """
        # A flush that nats-py ends at a timeout ends its reader too, when the answer comes late.
        flush = asyncio.ensure_future(self.client.flush(NEVER_S))
        self._flushes.add(flush)
        flush.add_done_callback(self._flushes.discard)
        await asyncio.wait([flush], timeout=within_s)
        if not flush.done():
            raise TransientError(f"The bus has not answered within {within_s:g} s.")
        try:
            flush.result()
        except (NatsError, OSError, asyncio.CancelledError) as error:
            raise TransientError("The connection to the bus was lost.") from error

    def _forget_flushes(self) -> None:
        """Cancel the flushes of a connection that has ended: no answer to them can come."""
        for flush in self._flushes:
            flush.cancel()

    async def close(self) -> None:
        """Close; what was sent is flushed first if the server is there."""
        if self.client.is_closed:
            return
        try:
            await self.client.close()
        except ConnectionError as error:  # the server is gone; nothing waits to be sent
            log("bus").warning("the bus was gone at the end", error=str(error), client=self.name)


def inbox_prefix(name: str) -> str:
    """Return the prefix of a service's own reply subjects; no other service may listen there."""
    return f"_INBOX_{name}"


async def _await_listener(servers: Sequence[ServerAddress], patience_s: float) -> ServerAddress:
    """Return a server whose port is open: the client's own first attempt would never give up."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience_s
    while True:
        # In any order, so that the clients spread over the servers.
        for server in sample(servers, len(servers)):
            if await _listens(server):
                return server
        if loop.time() >= deadline:
            raise TransientError(
                f"No NATS server answers at {', '.join(map(str, servers))}. Start one with"
                " `biaswatch up`, or set NATS_URL to the address of yours."
            )
        await asyncio.sleep(CONNECT_RETRY_S)


async def _listens(server: ServerAddress) -> bool:
    try:
        async with asyncio.timeout(CHECK_S):
            _, writer = await asyncio.open_connection(server.host, server.port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def _tls(ca_file: Path | None) -> ssl.SSLContext | None:
    """Return what TLS trusts; without a file, the system's certificates, if the bus uses TLS."""
    if ca_file is None:
        return None
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(
            f"The certificate {ca_file} cannot be used ({error.strerror or error}). Correct"
            " BIASWATCH_NATS_CA_FILE."
        ) from None


def _seed(seed_file: Path | None) -> str | None:
    if seed_file is None:
        return None
    try:
        return seed_file.read_text().strip()
    except OSError as error:
        raise ConfigurationError(
            f"The key file {seed_file} cannot be read ({error.strerror}). `biaswatch admin keys`"
            " makes one per service."
        ) from None
