"""Requests of OTLP over HTTP as signals, and its responses: protobuf or JSON, perhaps gzipped."""

import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from biaswatch.services.gateway.body_files import BodyFile
from biaswatch.services.gateway.otlp import protobuf_signals
from biaswatch.services.gateway.otlp.json_messages import json_batches
from biaswatch.services.gateway.otlp.protobuf_messages import MAX_MESSAGES, TooManyMessagesError
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.errors import UsageError

TRACES, LOGS = protobuf_signals.TRACES, protobuf_signals.LOGS
PROTOBUF, JSON = "application/x-protobuf", "application/json"
MOST_BYTES = 64 * 1024 * 1024
"""What a request may be, and what it may unpack to; batches of SDKs and collectors are smaller."""
MAX_RATIO = 300
"""How many times its size a body may unpack to; texts reach 5 to 40."""
RATIO_FREE_BYTES = 4 * 1024 * 1024
"""The size that any body may unpack to."""
PIECE_BYTES = 64 * 1024
"""Bytes that are unpacked at once."""
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
"""Errors of reading JSON of another shape than OTLP's."""
TOO_MANY = f"The request has more than {MAX_MESSAGES:,} spans or messages. Send smaller batches."


class UnreadableRequestError(Exception):
    """The request breaks the protocol; sending it again cannot help."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ExportResult:
    """What became of a request: how much was refused, and what its sender should know."""

    rejected: int = 0
    message: str = ""


def format_of(content_type: str) -> str:
    """Return in which of the two formats a request is, and its response has to be."""
    found = content_type.partition(";")[0].strip().lower()
    if found not in {PROTOBUF, JSON}:
        raise UnreadableRequestError(415, f"The body has to be {PROTOBUF} or {JSON}.")
    return found


def unpacked(body: bytes | BodyFile, encoding: str) -> BodyFile:
    """Return a body as it was before it was packed.

    Raises
    ------
    UnreadableRequestError
        It is not gzip, or unpacks to more than `MOST_BYTES` or `MAX_RATIO` times its size.
    """
    body = _as_file(body)
    packed = encoding.strip().lower()
    if packed in {"", "identity"}:
        return body
    if packed != "gzip":
        raise UnreadableRequestError(415, "Of encodings, gzip alone is known here.")
    whole = BodyFile()
    try:
        for piece in _inflated(body, min(MOST_BYTES, max(RATIO_FREE_BYTES, MAX_RATIO * body.size))):
            whole.write(piece)
    except zlib.error:
        whole.close()
        raise UnreadableRequestError(400, "The body is not gzip.") from None
    except BaseException:
        whole.close()
        raise
    return whole


def _inflated(body: BodyFile, limit: int) -> Iterator[bytes]:
    """Yield what gzip's bytes unpack to, piece by piece; refuse more than `limit` bytes."""
    unpacking, size = zlib.decompressobj(wbits=31), 0
    for start in range(0, body.size, PIECE_BYTES):
        packed = body.read_at(start, PIECE_BYTES)
        while packed and not unpacking.eof:
            piece = unpacking.decompress(packed, PIECE_BYTES)
            packed = unpacking.unconsumed_tail
            size += len(piece)
            if size > limit:
                raise UnreadableRequestError(413, _bomb(limit))
            yield piece
    if not unpacking.eof:
        raise UnreadableRequestError(400, "The body ends before its gzip does.")


def _bomb(limit: int) -> str:
    if limit == MOST_BYTES:
        return f"The body unpacks to more than {MOST_BYTES >> 20} MiB. Send smaller batches."
    return f"The body unpacks to more than {MAX_RATIO} times its size. Send smaller batches."


def _as_file(body: bytes | BodyFile) -> BodyFile:
    return BodyFile.of(body) if isinstance(body, bytes) else body


def signals_of(body: bytes | BodyFile, format_: str, kind: str) -> list[Signal]:
    """Return the spans or log events of a request, all in memory."""
    with _as_file(body) as file:
        batches = signal_batches(file, format_, kind, [])
        return [signal for batch in batches for signal in batch]


def signal_batches(
    body: BodyFile, format_: str, kind: str, refused: list[str]
) -> Iterator[Iterable[Signal]]:
    """Yield the spans or log events of a request, some at a time.

    The first batch comes after the structure of the whole request was checked. What is wrong with
    single spans is appended to `refused`.

    Raises
    ------
    UnreadableRequestError
        The request is malformed, or has too many messages.
    """
    json_form = format_ == JSON
    with _as_refusals(format_, kind):
        batches: Iterator[Iterable[Signal]] = (
            json_batches(body)
            if json_form
            else protobuf_signals.protobuf_batches(body, kind, refused)
        )
        for batch in batches:
            yield _read(batch, format_, kind)


def _read(batch: Iterable[Signal], format_: str, kind: str) -> Iterator[Signal]:
    with _as_refusals(format_, kind):
        yield from batch


@contextmanager
def _as_refusals(format_: str, kind: str) -> Iterator[None]:
    """Turn what reading a request raises into the sentence that its sender gets."""
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
    """Return the response that tells what became of a request, in the request's own format."""
    singular = "Spans" if kind == TRACES else "LogRecords"
    told = bool(result.rejected or result.message)
    if format_ == JSON:
        partial = {f"rejected{singular}": str(result.rejected), "errorMessage": result.message}
        return json.dumps({"partialSuccess": partial} if told else {}).encode()
    if kind == TRACES:
        spans = ExportTraceServiceResponse()
        if told:
            spans.partial_success.rejected_spans = result.rejected
            spans.partial_success.error_message = result.message
        return _encoded(spans)
    logs = ExportLogsServiceResponse()
    if told:
        logs.partial_success.rejected_log_records = result.rejected
        logs.partial_success.error_message = result.message
    return _encoded(logs)


def error_body(message: str, format_: str) -> bytes:
    """Return why a request is refused whole, as the protocol says it."""
    if format_ == JSON:
        return json.dumps({"message": message}).encode()
    return _encoded(Status(message=message))


def _encoded(message: Message) -> bytes:
    return bytes(message.SerializeToString())
