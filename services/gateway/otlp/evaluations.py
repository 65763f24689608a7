"""Export measurements to traces as OpenTelemetry evaluation events."""

import asyncio
import gzip
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

import httpx2
from google.protobuf.message import DecodeError

from biaswatch.services.gateway.otlp.evaluation_events import (
    evaluation_request,
    event_count,
    rejected_events,
)
from biaswatch.services.gateway.otlp.wire import PROTOBUF
from biaswatch.shared.backoff import Backoff, retry_after_s
from biaswatch.shared.contracts import Features, Record
from biaswatch.shared.errors import ConfigurationError, TransientError, UsageError
from biaswatch.shared.network.outgoing import (
    RequestFailedError,
    Unanswered,
    outgoing_client,
    request_failures,
)
from biaswatch.shared.runtime.settings import headers_in
from biaswatch.shared.telemetry import EVALUATIONS, RepeatedWarning, log

TIMEOUT_S = 10.0
MAX_REPLY_BYTES = 64 * 1024
UNREADABLE = frozenset({400, 413, 415, 422})
"""Status codes of an unacceptable request, which cannot be repeated."""


@dataclass(frozen=True)
class Accepted:
    """The endpoint has accepted a request."""

    rejected: int = 0
    """Number of rejected events."""


@dataclass(frozen=True)
class RefusedExport:
    """The endpoint will never accept the request."""

    why: str


Reply = Accepted | RefusedExport


class EvaluationEndpoint:
    """Posts OTLP requests to the configured address; errors contain neither address nor headers."""

    def __init__(
        self, url: str, headers_file: Path | None, private_hosts: Collection[str] = ()
    ) -> None:
        self._url = url
        self._headers_file = headers_file
        self.host = httpx2.URL(url).host
        self._client = outgoing_client(private_hosts, timeout_s=TIMEOUT_S)

    async def post(self, request: bytes) -> Reply:
        """Send an OTLP request.

        Raises
        ------
        TransientError
            The endpoint does not accept it now, or not until a setting is corrected.
        """
        headers = {"Content-Type": PROTOBUF, "Content-Encoding": "gzip", **self._headers()}
        body = gzip.compress(request, compresslevel=1)
        try:
            async with request_failures(self._url, TIMEOUT_S):
                posted = self._client.stream("POST", self._url, content=body, headers=headers)
                async with posted as reply:
                    return self._reply(reply, await _first_bytes(reply))
        except RequestFailedError as failed:
            hint = (
                " If evaluations may be sent there, name it in"
                " BIASWATCH_GATEWAY_EVALUATIONS_PRIVATE_HOSTS."
            )
            is_private = failed.reason is Unanswered.PRIVATE_ADDRESS
            raise TransientError(f"{failed}{hint if is_private else ''}") from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _reply(self, reply: httpx2.Response, body: bytes) -> Reply:
        """Interpret a response; raise TransientError if the request may be accepted later."""
        if reply.status_code in UNREADABLE:
            return RefusedExport(f"{self.host} answered {reply.status_code}")
        if not reply.is_success:
            raise TransientError(
                f"{self.host} answered {reply.status_code}.",
                retry_after_s=retry_after_s(reply.headers),
            )
        if not reply.headers.get("content-type", "").startswith(PROTOBUF):
            return Accepted()
        try:
            return Accepted(rejected_events(body))
        except DecodeError:
            return Accepted()  # the status counts, whatever the body is

    def _headers(self) -> Mapping[str, str]:
        """Read the headers again, so that a corrected file takes effect without a restart."""
        if self._headers_file is None:
            return {}
        try:
            return headers_in(self._headers_file)
        except (ConfigurationError, UsageError) as error:
            raise TransientError(str(error)) from None


async def _first_bytes(reply: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in reply.aiter_bytes():
        body += chunk
        if len(body) > MAX_REPLY_BYTES:
            break
    return bytes(body[:MAX_REPLY_BYTES])


MAX_AGE = timedelta(days=1)
"""Older measurements are not sent: few receivers accept them."""
BACKOFF = Backoff(1.0, 60.0)


class OtlpReceiver(Protocol):
    """Receiver of evaluations."""

    async def post(self, request: bytes) -> Reply:
        """Send an OTLP request; raise TransientError if it is not accepted now."""


class EvaluationExport:
    """Handles features: those with a span are sent to the endpoint as events.

    While the endpoint accepts none, the batch is held and repeated, so that its consumer keeps its
    place. A batch that is held when the service stops goes back to the bus.
    """

    def __init__(
        self,
        endpoint: OtlpReceiver,
        tenants: Collection[str],
        *,
        now: Callable[[], datetime],
        jitter: Callable[[], float],
    ) -> None:
        self._endpoint = endpoint
        self._tenants = tenants
        self._now = now
        self._jitter = jitter
        self._stopped = asyncio.Event()
        self._warning = RepeatedWarning("evaluations", "evaluations wait for their endpoint")
        for outcome in ("sent", "refused", "expired"):
            EVALUATIONS.labels(outcome)

    def stop(self) -> None:
        """Stop holding a batch."""
        self._stopped.set()

    async def __call__(self, batch: Sequence[Features]) -> Sequence[Record]:
        """Send the features with a span; return when they are accepted or too old.

        Raises
        ------
        asyncio.CancelledError
            The service stops; the batch is not acknowledged.
        """
        waiting = [
            features for features in batch if features.span and features.tenant in self._tenants
        ]
        attempts = 0
        while waiting := self._recent(waiting):
            try:
                reply = await self._endpoint.post(evaluation_request(waiting))
            except TransientError as error:
                self._warning.warn(error)
                attempts += 1
                delay_s = BACKOFF.requested_s(error.retry_after_s, attempts, self._jitter())
                await self._wait(delay_s)
            else:
                _count(reply, event_count(waiting))
                break
        return ()

    def _recent(self, waiting: Sequence[Features]) -> list[Features]:
        oldest = self._now() - MAX_AGE
        recent = [features for features in waiting if features.at > oldest]
        EVALUATIONS.labels("expired").inc(event_count(waiting) - event_count(recent))
        return recent

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        if self._stopped.is_set():
            raise asyncio.CancelledError


def _count(reply: Reply, events: int) -> None:
    refused = events if isinstance(reply, RefusedExport) else min(reply.rejected, events)
    EVALUATIONS.labels("sent").inc(events - refused)
    EVALUATIONS.labels("refused").inc(refused)
    if refused:
        why = reply.why if isinstance(reply, RefusedExport) else "the endpoint has rejected them"
        log("evaluations").warning("evaluations are refused", events=refused, why=why)
