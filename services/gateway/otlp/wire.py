"""OTLP requests and responses over HTTP: JSON or protobuf, optionally gzipped."""

import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from biaswatch.services.gateway.bodies import BodyFile
from biaswatch.services.gateway.otlp.json_signals import json_batches
from biaswatch.services.gateway.otlp.protobuf import TRACES, protobuf_batches
from biaswatch.services.gateway.otlp.protobuf_fields import MAX_MESSAGES, TooManyMessagesError
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.errors import UsageError

PROTOBUF, JSON = "application/x-protobuf", "application/json"
MAX_BYTES = 64 * 1024 * 1024
"""Size of a request, packed and unpacked; batches of SDKs and collectors are smaller."""
MAX_RATIO = 300
"""Compression ratio of a body; texts reach 5 to 40."""
RATIO_FREE_BYTES = 4 * 1024 * 1024
"""Unpacked size that is allowed at any ratio."""
PIECE_BYTES = 64 * 1024
"""Bytes that are unpacked at once."""
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
"""Errors of reading JSON that is not OTLP's."""
TOO_MANY = f"The request has more than {MAX_MESSAGES:,} spans or messages. Send smaller batches."


class UnreadableRequestError(Exception):
    """The request breaks the protocol; repeating it cannot help."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ExportResult:
    """Number of refused answers of a request, and a message for its sender."""

    rejected: int = 0
    message: str = ""


def format_of(content_type: str) -> str:
    """Return the format of a request, which its response has too."""
    format_ = content_type.partition(";")[0].strip().lower()
    if format_ not in {PROTOBUF, JSON}:
        raise UnreadableRequestError(415, f"The body has to be {PROTOBUF} or {JSON}.")
    return format_


def unpacked(body: BodyFile, encoding: str) -> BodyFile:
    """Unpack a body.

    Raises
    ------
    UnreadableRequestError
        It is not gzip, or unpacks to more than `MAX_BYTES` or `MAX_RATIO` times its size.
    """
    encoding = encoding.strip().lower()
    if encoding in {"", "identity"}:
        return body
    if encoding != "gzip":
        raise UnreadableRequestError(415, "The only encoding that is supported here is gzip.")
    whole = BodyFile()
    try:
        for piece in _inflated(body, min(MAX_BYTES, max(RATIO_FREE_BYTES, MAX_RATIO * body.size))):
            whole.write(piece)
    except zlib.error:
        whole.close()
        raise UnreadableRequestError(400, "The body is not gzip.") from None
    except BaseException:
        whole.close()
        raise
    return whole


def _inflated(body: BodyFile, limit: int) -> Iterator[bytes]:
    """Yield the unpacked pieces of a gzip body; refuse more than `limit` bytes."""
    unpacking, size = zlib.decompressobj(wbits=31), 0
    for start in range(0, body.size, PIECE_BYTES):
        packed = body.read_at(start, PIECE_BYTES)
        while packed and not unpacking.eof:
            piece = unpacking.decompress(packed, PIECE_BYTES)
            packed = unpacking.unconsumed_tail
            size += len(piece)
            if size > limit:
                raise UnreadableRequestError(413, _too_large(limit))
            yield piece
    if not unpacking.eof:
        raise UnreadableRequestError(400, "The body ends before its gzip does.")


def _too_large(limit: int) -> str:
    if limit == MAX_BYTES:
        return f"The body unpacks to more than {MAX_BYTES >> 20} MiB. Send smaller batches."
    return f"The body unpacks to more than {MAX_RATIO} times its size. Send smaller batches."


def signal_batches(
    body: BodyFile, format_: str, kind: str, refused: list[str]
) -> Iterator[Iterable[Signal]]:
    """Yield the spans or log events of a request in batches.

    The first batch comes after the structure of the whole request was checked. Mistakes of single
    spans are appended to `refused`.

    Raises
    ------
    UnreadableRequestError
        The request is malformed, or has too many messages.
    """
    with _readable(format_, kind):
        batches: Iterator[Iterable[Signal]] = (
            json_batches(body) if format_ == JSON else protobuf_batches(body, kind, refused)
        )
        for batch in batches:
            yield _read(batch, format_, kind)


def _read(batch: Iterable[Signal], format_: str, kind: str) -> Iterator[Signal]:
    with _readable(format_, kind):
        yield from batch


@contextmanager
def _readable(format_: str, kind: str) -> Iterator[None]:
    """Turn errors of reading a request into errors with a message for its sender."""
    try:
        yield
    except UsageError as error:
        raise UnreadableRequestError(413, f"{error} Send smaller batches.") from None
    except TooManyMessagesError:
        raise UnreadableRequestError(413, TOO_MANY) from None
    except DecodeError:
        raise UnreadableRequestError(400, f"The body is not OTLP's protobuf of {kind}.") from None
    except (*MALFORMED, RecursionError):
        if format_ != JSON:
            raise
        raise UnreadableRequestError(400, "The body is not OTLP's JSON.") from None


def response_body(result: ExportResult, format_: str, kind: str) -> bytes:
    """Return the body of a response, in the format of the request."""
    singular = "Spans" if kind == TRACES else "LogRecords"
    partial = bool(result.rejected or result.message)
    if format_ == JSON:
        counts = {f"rejected{singular}": str(result.rejected), "errorMessage": result.message}
        return json.dumps({"partialSuccess": counts} if partial else {}).encode()
    if kind == TRACES:
        spans = ExportTraceServiceResponse()
        if partial:
            spans.partial_success.rejected_spans = result.rejected
            spans.partial_success.error_message = result.message
        return _encoded(spans)
    logs = ExportLogsServiceResponse()
    if partial:
        logs.partial_success.rejected_log_records = result.rejected
        logs.partial_success.error_message = result.message
    return _encoded(logs)


def error_body(message: str, format_: str) -> bytes:
    """Return the body of an error, in the format of the request."""
    if format_ == JSON:
        return json.dumps({"message": message}).encode()
    return _encoded(Status(message=message))


def _encoded(message: Message) -> bytes:
    return bytes(message.SerializeToString())
