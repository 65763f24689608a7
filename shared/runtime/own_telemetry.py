"""A service's own traces and logs by OpenTelemetry: off unless an address is named.

The only import of OpenTelemetry's SDK, which the extra `telemetry` installs.
"""

import logging
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.runtime.settings import Settings, headers_in
from biaswatch.shared.telemetry import RepeatedWarning, forward_logs
from biaswatch.shared.tracing import HandledBatch, current_context, set_tracer

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

MISSING = (
    "BIASWATCH_TELEMETRY_URL is set, and OpenTelemetry's SDK is not installed. Install the extra"
    " `telemetry`, or remove the variable."
)
TIMEOUT_S = 5.0
LONGEST_VALUE = 200
"""Maximum characters of a field of a log entry."""


class OwnTelemetry:
    """Sends spans and log entries until it is closed."""

    def __init__(self, service: str, settings: Settings) -> None:
        """Start exporting; unreachable endpoints do not delay the service.

        Raises
        ------
        ConfigurationError
            The SDK is not installed, or the file of headers is wrong.
        """
        try:
            from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk._logs import LoggerProvider
            from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
        except ImportError:
            raise ConfigurationError(MISSING) from None
        base = str(settings.telemetry_url).rstrip("/")
        file = settings.telemetry_headers_file
        headers = {} if file is None else headers_in(file)
        resource = Resource.create({"service.name": f"biaswatch-{service}"})
        sampler = ParentBased(TraceIdRatioBased(settings.telemetry_share))
        self._spans = TracerProvider(sampler, resource, shutdown_on_exit=False)
        spans = OTLPSpanExporter(f"{base}/v1/traces", headers=headers, timeout=TIMEOUT_S)
        self._spans.add_span_processor(BatchSpanProcessor(spans))
        self._logs = LoggerProvider(resource, shutdown_on_exit=False)
        logs = OTLPLogExporter(f"{base}/v1/logs", headers=headers, timeout=TIMEOUT_S)
        self._logs.add_log_record_processor(BatchLogRecordProcessor(logs))
        self._logger = self._logs.get_logger("biaswatch")
        _say_what_goes_wrong()
        set_tracer(SpanWriter(self._spans.get_tracer("biaswatch")))
        forward_logs(self.emit)

    def emit(self, level: str, entry: Mapping[str, Any]) -> None:
        """Send a log entry, within the trace of what is being done."""
        from opentelemetry._logs import LogRecord, SeverityNumber

        severity = getattr(SeverityNumber, {"WARNING": "WARN"}.get(level, level), None)
        fields = {
            name: value if isinstance(value, int | float) else str(value)[:LONGEST_VALUE]
            for name, value in entry.items()
            if name not in {"event", "level", "at"} and value is not None
        }
        record = LogRecord(
            context=_context_of(current_context()),
            severity_text=level,
            severity_number=severity,
            body=str(entry.get("event", "")),
            attributes=fields,
        )
        self._logger.emit(record)

    def close(self) -> None:
        """Send the rest and stop; blocks for seconds if the endpoint is unreachable."""
        set_tracer(None)
        forward_logs(None)
        self._spans.shutdown()
        self._logs.shutdown()


class _SdkTroubles(logging.Handler):
    """Says once a minute that the SDK has trouble; its own words may hold addresses and keys."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._trouble = RepeatedWarning("telemetry", "own traces and logs are not taken")

    def emit(self, record: logging.LogRecord) -> None:
        """Count one trouble."""
        self._trouble.warn(TransientError(f"{record.name} has reported a {record.levelname}."))


def _say_what_goes_wrong() -> None:
    logger = logging.getLogger("opentelemetry")
    logger.handlers[:] = [_SdkTroubles()]
    logger.propagate = False


class SpanWriter:
    """Writes a span for each record that a stage handles, and one where a journey begins."""

    def __init__(self, tracer: "Tracer") -> None:
        self._tracer = tracer

    @contextmanager
    def handling(self, batch: HandledBatch) -> Iterator[Sequence[str]]:
        """See `JourneyTracer.handling`."""
        spans = [self._start_span(batch, index) for index in range(len(batch.record_ids))]
        try:
            yield [_written(span) for span in spans]
        except BaseException as error:
            self._mark(spans, error)
            raise
        finally:
            for span in spans:
                span.end()

    def publishing(self, kind: str, record_id: str) -> str:
        """See `JourneyTracer.publishing`."""
        from opentelemetry.trace import SpanKind

        fields = {"biaswatch.record": kind, "biaswatch.record.id": record_id}
        span = self._tracer.start_span(
            f"publish {kind}", _context_of(""), SpanKind.PRODUCER, fields
        )
        span.end()
        return _written(span)

    def _start_span(self, batch: HandledBatch, index: int) -> "Span":
        from opentelemetry.trace import SpanKind

        fields: dict[str, Any] = {
            "messaging.system": "nats",
            "messaging.operation.type": "process",
            "messaging.batch.message_count": len(batch.record_ids),
            "biaswatch.stage": batch.stage,
            "biaswatch.record": batch.kind,
            "biaswatch.record.id": batch.record_ids[index],
        }
        if batch.attempts:
            fields["biaswatch.attempt"] = batch.attempts[index]
        parent = _context_of(batch.contexts[index])
        return self._tracer.start_span(f"handle {batch.kind}", parent, SpanKind.CONSUMER, fields)

    def _mark(self, spans: Sequence["Span"], error: BaseException) -> None:
        """Mark spans as failed by the error's name alone: its text may hold anything."""
        from opentelemetry.trace import StatusCode

        for span in spans:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(StatusCode.ERROR)


def _context_of(written: str) -> Any:
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({"traceparent": written}, Context())


def _written(span: "Span") -> str:
    from opentelemetry.trace import set_span_in_context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: MutableMapping[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier, set_span_in_context(span))
    return carrier.get("traceparent", "")


@contextmanager
def own_telemetry(service: str, settings: Settings) -> Iterator[None]:
    """Send a service's own traces and logs while the context lasts, if an address is named.

    Raises
    ------
    ConfigurationError
        See `OwnTelemetry`.
    """
    if settings.telemetry_url is None:
        yield
        return
    telemetry = OwnTelemetry(service, settings)
    try:
        yield
    finally:
        telemetry.close()
