"""Export measurements to traces as OpenTelemetry evaluation events."""

import asyncio
import gzip
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import httpx2
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, SeverityNumber

from biaswatch.services.gateway.otlp.wire import PROTOBUF
from biaswatch.shared.backoff import Backoff, retry_after_s
from biaswatch.shared.contracts import Features, Record
from biaswatch.shared.contracts.identity import derived_id
from biaswatch.shared.errors import ConfigurationError, TransientError, UsageError
from biaswatch.shared.network.outgoing import (
    RequestFailedError,
    Unanswered,
    outgoing_client,
    request_failures,
)
from biaswatch.shared.runtime.settings import headers_in
from biaswatch.shared.telemetry import EVALUATIONS, RepeatedWarning, log

EVENT = "gen_ai.evaluation.result"
UNSCORABLE = "unscorable"
UNDEFINED = "The feature is undefined for this answer."
NANOSECONDS = 1_000_000_000


def evaluation_request(measured: Sequence[Features]) -> bytes:
    """Return an OTLP request with an event for each feature of measurements with a span.

    The same measurement has the same `log.record.uid`, so that receivers recognise repeats.
    """
    request = ExportLogsServiceRequest()
    logs = request.resource_logs.add()
    logs.resource.attributes.append(_pair("service.name", "biaswatch"))
    scope = logs.scope_logs.add()
    scope.scope.name = "biaswatch"
    for features in measured:
        scope.log_records.extend(_events(features))
    return bytes(request.SerializeToString())


def event_count(measured: Sequence[Features]) -> int:
    """Return the number of events of a request with these measurements."""
    return sum(len(features.values) or 1 for features in measured if features.span)


def rejected_events(reply: bytes) -> int:
    """Return the number of rejected events in a receiver's response.

    Raises
    ------
    google.protobuf.message.DecodeError
        It is not a response of OTLP.
    """
    return int(ExportLogsServiceResponse.FromString(reply).partial_success.rejected_log_records)


def _events(measured: Features) -> Iterator[LogRecord]:
    if not measured.values:
        why = measured.unscorable or UNDEFINED
        missing = {"error.type": UNSCORABLE, "gen_ai.evaluation.explanation": why}
        yield _event(measured, measured.extractor, missing)
    for feature, value in measured.values.items():
        score: dict[str, Any] = {"gen_ai.evaluation.score.value": value}
        if value is None:
            score = {"gen_ai.evaluation.explanation": UNDEFINED}
        yield _event(measured, f"{measured.extractor}.{feature}", score)


def _event(measured: Features, name: str, result: dict[str, Any]) -> LogRecord:
    span = measured.span
    if span is None:
        raise ValueError("a measurement without a span has no events")
    fields = {
        "gen_ai.evaluation.name": name,
        **result,
        "gen_ai.response.id": span.response_id,
        "biaswatch.tenant": measured.tenant,
        "biaswatch.extractor.version": measured.extractor_version,
        "biaswatch.instrument": measured.instrument or None,
        "log.record.uid": derived_id("evaluation_event", measured.id, name),
    }
    seconds = int(measured.at.timestamp())
    at_ns = seconds * NANOSECONDS + measured.at.microsecond * 1000
    return LogRecord(
        time_unix_nano=at_ns,
        observed_time_unix_nano=at_ns,
        severity_number=SeverityNumber.SEVERITY_NUMBER_INFO,
        event_name=EVENT,
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        attributes=[_pair(key, value) for key, value in fields.items() if value is not None],
    )


def _pair(key: str, value: str | float) -> KeyValue:
    if isinstance(value, str):
        return KeyValue(key=key, value=AnyValue(string_value=value))
    return KeyValue(key=key, value=AnyValue(double_value=value))


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
FIRST_PAUSE_S, MAX_PAUSE_S, MAX_RETRY_AFTER_S = 1.0, 60.0, 3600.0


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
                await self._wait(pause_s(attempts, error.retry_after_s, self._jitter()))
                attempts += 1
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


def pause_s(attempts: int, retry_after_s: float | None, jitter: float) -> float:
    """Return the time to wait after some failed attempts; it doubles up to a minute."""
    backoff_s = Backoff(FIRST_PAUSE_S, MAX_PAUSE_S).delay_s(attempts + 1, jitter)
    return max(min(retry_after_s or 0.0, MAX_RETRY_AFTER_S), backoff_s)


def _count(reply: Reply, events: int) -> None:
    refused = events if isinstance(reply, RefusedExport) else min(reply.rejected, events)
    EVALUATIONS.labels("sent").inc(events - refused)
    EVALUATIONS.labels("refused").inc(refused)
    if refused:
        why = reply.why if isinstance(reply, RefusedExport) else "the endpoint has rejected them"
        log("evaluations").warning("evaluations are refused", events=refused, why=why)
