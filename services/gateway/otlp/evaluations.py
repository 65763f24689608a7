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
from biaswatch.shared.network.guard import GuardedTransport, PrivateAddressError, UnknownHostError
from biaswatch.shared.runtime.settings import headers_in
from biaswatch.shared.telemetry import EVALUATIONS, RepeatedWarning, log

EVENT = "gen_ai.evaluation.result"
UNSCORABLE = "unscorable"
UNDEFINED = "The feature is undefined for this answer."
NANOSECONDS = 1_000_000_000


def evaluation_request(measured: Sequence[Features]) -> bytes:
    """Return a request of OTLP with an event for each feature; measurements without span have none.

    The same measurement has the same events, with the same `log.record.uid`: who receives one
    twice can tell.
    """
    request = ExportLogsServiceRequest()
    logs = request.resource_logs.add()
    logs.resource.attributes.append(_pair("service.name", "biaswatch"))
    scope = logs.scope_logs.add()
    scope.scope.name = "biaswatch"
    for each in measured:
        scope.log_records.extend(_events(each))
    return bytes(request.SerializeToString())


def event_count(measured: Sequence[Features]) -> int:
    """Return how many events a request with these measurements has."""
    return sum(len(each.values) or 1 for each in measured if each.span)


def rejected_events(reply: bytes) -> int:
    """Return how many events of a request the receiver says it has rejected; 0 if it says nothing.

    Raises
    ------
    google.protobuf.message.DecodeError
        This is no response of OTLP.
    """
    found = ExportLogsServiceResponse.FromString(reply).partial_success.rejected_log_records
    return int(found)


def _events(measured: Features) -> Iterator[LogRecord]:
    if not measured.values:
        why = measured.unscorable or UNDEFINED
        told = {"error.type": UNSCORABLE, "gen_ai.evaluation.explanation": why}
        yield _event(measured, measured.extractor, told)
    for feature, value in measured.values.items():
        score: dict[str, Any] = {"gen_ai.evaluation.score.value": value}
        if value is None:
            score = {"gen_ai.evaluation.explanation": UNDEFINED}
        yield _event(measured, f"{measured.extractor}.{feature}", score)


def _event(measured: Features, name: str, told: dict[str, Any]) -> LogRecord:
    span = measured.span
    if span is None:
        raise ValueError("only what has a span can be told about it")
    fields = {
        "gen_ai.evaluation.name": name,
        **told,
        "gen_ai.response.id": span.response_id,
        "biaswatch.tenant": measured.tenant,
        "biaswatch.extractor.version": measured.extractor_version,
        "biaswatch.instrument": measured.instrument or None,
        "log.record.uid": derived_id("evaluation_event", measured.id, name),
    }
    at_ns = _nanoseconds(measured.at)
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


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * NANOSECONDS + moment.microsecond * 1000


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


OLDEST = timedelta(days=1)
"""What is older is no longer sent: few receivers take it, and its trace was looked at long ago."""
FIRST_PAUSE_S, LONGEST_PAUSE_S, LONGEST_ASKED_S = 1.0, 60.0, 3600.0


class OtlpReceiver(Protocol):
    """Where evaluations are sent."""

    async def post(self, request: bytes) -> Reply:
        """Send a request of OTLP; raise TransientError where it is not taken now."""


class EvaluationExport:
    """Handles features: those that have a span become events, which the endpoint takes in the end.

    While it takes none, a batch is held and tried again, so the durable keeps the rest and its
    place; a batch that is held when the service stops goes back to the bus.
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
        self._not_taken = RepeatedWarning("evaluations", "evaluations wait for their endpoint")
        for outcome in ("sent", "refused", "expired"):
            EVALUATIONS.labels(outcome)

    def stop(self) -> None:
        """Hold nothing any longer."""
        self._stopped.set()

    async def __call__(self, batch: Sequence[Features]) -> Sequence[Record]:
        """Send what belongs to a span; return when the endpoint has it, or it has become too old.

        Raises
        ------
        asyncio.CancelledError
            The service stops; nothing of the batch is settled.
        """
        waiting = [each for each in batch if each.span and each.tenant in self._tenants]
        attempts = 0
        while waiting := self._recent(waiting):
            try:
                reply = await self._endpoint.post(evaluation_request(waiting))
            except TransientError as error:
                self._not_taken.warn(error)
                await self._pause(pause_s(attempts, error.retry_after_s, self._jitter()))
                attempts += 1
            else:
                _count(reply, event_count(waiting))
                break
        return ()

    def _recent(self, waiting: Sequence[Features]) -> list[Features]:
        oldest = self._now() - OLDEST
        found = [each for each in waiting if each.at > oldest]
        recent, all_of_them = event_count(found), event_count(waiting)
        EVALUATIONS.labels("expired").inc(all_of_them - recent)
        return found

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        if self._stopped.is_set():
            raise asyncio.CancelledError


def pause_s(attempts: int, asked_s: float | None, jitter: float) -> float:
    """Return how long to wait after so many attempts before; it doubles up to a minute."""
    backoff_s = Backoff(FIRST_PAUSE_S, LONGEST_PAUSE_S).delay_s(attempts + 1, jitter)
    return max(min(asked_s or 0.0, LONGEST_ASKED_S), backoff_s)


def _count(reply: Reply, events: int) -> None:
    refused = events if isinstance(reply, NotReadable) else min(reply.rejected, events)
    EVALUATIONS.labels("sent").inc(events - refused)
    EVALUATIONS.labels("refused").inc(refused)
    if refused:
        why = reply.why if isinstance(reply, NotReadable) else "the endpoint has rejected them"
        log("evaluations").warning("evaluations are refused", events=refused, why=why)
