"""The endpoint that evaluations are sent to: one POST, and what its answer means."""

import asyncio
import gzip
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx2
from google.protobuf.message import DecodeError

from biaswatch.services.gateway.otlp.evaluations import rejected_events
from biaswatch.services.gateway.otlp.wire import PROTOBUF
from biaswatch.shared.errors import ConfigurationError, TransientError, UsageError
from biaswatch.shared.network import (
    GuardedTransport,
    PrivateAddressError,
    UnknownHostError,
    retry_after_s,
)
from biaswatch.shared.runtime.header_files import headers_in

TIMEOUT_S = 10.0
MOST_REPLY_BYTES = 64 * 1024
UNREADABLE = frozenset({400, 413, 415, 422})
"""What is sent is at fault: sending it again cannot help, whatever a person corrects."""


@dataclass(frozen=True)
class Taken:
    """The endpoint has taken a request."""

    rejected: int = 0
    """How many of its events it has rejected."""


@dataclass(frozen=True)
class NotReadable:
    """The endpoint will never take what was sent."""

    why: str


Reply = Taken | NotReadable


class EvaluationEndpoint:
    """Posts requests of OTLP to the operator's address; addresses and headers are in no error."""

    def __init__(
        self, url: str, headers_file: Path | None, private_hosts: Collection[str] = ()
    ) -> None:
        self._url = url
        self._headers_file = headers_file
        self.host = httpx2.URL(url).host
        self._client = httpx2.AsyncClient(
            transport=GuardedTransport(private_hosts), timeout=TIMEOUT_S, trust_env=False
        )

    async def post(self, request: bytes) -> Reply:
        """Send a request of OTLP.

        Raises
        ------
        TransientError
            The endpoint does not take it now, or not before a person has corrected a setting.
        """
        headers = {"Content-Type": PROTOBUF, "Content-Encoding": "gzip", **self._headers()}
        body = gzip.compress(request, compresslevel=1)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                posted = self._client.stream("POST", self._url, content=body, headers=headers)
                async with posted as reply:
                    return self._meaning(reply, await _start_of(reply))
        except UnknownHostError:
            raise TransientError(f"The host {self.host} is not known.") from None
        except PrivateAddressError:
            raise TransientError(
                f"The host {self.host} has a private address. If evaluations may be sent there,"
                " name it in BIASWATCH_GATEWAY_EVALUATIONS_PRIVATE_HOSTS."
            ) from None
        except (httpx2.HTTPError, TimeoutError) as error:
            raise TransientError(
                f"{self.host} does not take evaluations ({type(error).__name__})."
            ) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _meaning(self, reply: httpx2.Response, body: bytes) -> Reply:
        """Return what an answer means, or raise where the same may be taken later."""
        if reply.status_code in UNREADABLE:
            return NotReadable(f"{self.host} answered {reply.status_code}")
        if not reply.is_success:
            raise TransientError(
                f"{self.host} answered {reply.status_code}.",
                retry_after_s=retry_after_s(reply.headers),
            )
        if not reply.headers.get("content-type", "").startswith(PROTOBUF):
            return Taken()
        try:
            return Taken(rejected_events(body))
        except DecodeError:
            return Taken()  # what it took it took, whatever it says about it

    def _headers(self) -> Mapping[str, str]:
        """Read the headers anew, so that a corrected file helps without a restart."""
        if self._headers_file is None:
            return {}
        try:
            return headers_in(self._headers_file)
        except (ConfigurationError, UsageError) as error:
            raise TransientError(str(error)) from None


async def _start_of(reply: httpx2.Response) -> bytes:
    found = bytearray()
    async for chunk in reply.aiter_bytes():
        found += chunk
        if len(found) > MOST_REPLY_BYTES:
            break
    return bytes(found[:MOST_REPLY_BYTES])
