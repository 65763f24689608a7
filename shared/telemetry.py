"""Prometheus metrics and structured logs, the same in every service."""

import logging
import sys
import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TextIO

import structlog
from prometheus_client import Counter, Gauge, Histogram

HANDLED = Counter(
    "biaswatch_stage_records_total",
    "Records a stage has settled, by how: accepted, retried, dead_letter.",
    ["stage", "outcome"],
)
SECONDS = Histogram(
    "biaswatch_stage_handle_seconds",
    "Time from taking a lot of records to settling it.",
    ["stage"],
    buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 30, 120, 600),
)
LAG = Gauge(
    "biaswatch_stage_lag_records",
    "Records waiting on the bus for this stage, not counting those in hand.",
    ["stage"],
)
LAST_SUCCESS = Gauge(
    "biaswatch_stage_last_success_timestamp_seconds",
    "When the stage last settled a record well (Unix time); its age is time() minus this.",
    ["stage"],
)
PUBLISHED = Counter("biaswatch_published_records_total", "Records the bus has taken.", ["record"])
COMPARISONS = Counter(
    "biaswatch_comparisons_total",
    "Comparisons of groups the diagnoser has concluded, by verdict.",
    ["verdict"],
)
CALLS = Counter(
    "biaswatch_calls_total",
    "Calls to a target, every try, by how they ended: answered, or the failure's name.",
    ["target", "outcome"],
)
CALL_SECONDS = Histogram(
    "biaswatch_call_seconds",
    "How long a target took for one try of a call.",
    ["target"],
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300),
)
TOKENS = Counter(
    "biaswatch_call_tokens_total", "Tokens a target read and wrote.", ["target", "direction"]
)
COST = Counter(
    "biaswatch_call_cost_total",
    "Money a target cost, in the currency of the price table.",
    ["target"],
)
ALLOWED = Gauge(
    "biaswatch_calls_allowed", "Calls to a target that may be under way at once.", ["target"]
)
TARGET_PAUSED = Gauge(
    "biaswatch_target_paused",
    "1 while probes of a target wait because it refuses every call.",
    ["target"],
)
KEPT = Counter(
    "biaswatch_calls_kept_total", "Calls answered by what was kept, and not paid again.", ["target"]
)
OF_COMPARISON = ["tenant", "monitor", "feature", "comparison"]
MONITOR_GAP = Gauge("biaswatch_monitor_gap", "Gap of a monitored comparison.", OF_COMPARISON)
MONITOR_GAP_LOW = Gauge(
    "biaswatch_monitor_gap_low", "Lower end of the gap's confidence sequence.", OF_COMPARISON
)
MONITOR_GAP_HIGH = Gauge(
    "biaswatch_monitor_gap_high", "Upper end of the gap's confidence sequence.", OF_COMPARISON
)
MONITOR_EVIDENCE = Gauge(
    "biaswatch_monitor_log_evidence", "Log e-value against gaps within tolerance.", OF_COMPARISON
)
MONITOR_VERDICT = Gauge(
    "biaswatch_monitor_verdict",
    "1 for a disparity, -1 for none beyond the tolerance, 0 for not enough evidence.",
    OF_COMPARISON,
)
MONITOR_LABELLED_GAP = Gauge(
    "biaswatch_monitor_labelled_gap",
    "Gap of a monitored comparison as labels of people correct it, over labelled rounds.",
    OF_COMPARISON,
)
MONITOR_LABELLED_GAP_LOW = Gauge(
    "biaswatch_monitor_labelled_gap_low",
    "Lower end of the confidence sequence of the gap by labels.",
    OF_COMPARISON,
)
MONITOR_LABELLED_GAP_HIGH = Gauge(
    "biaswatch_monitor_labelled_gap_high",
    "Upper end of the confidence sequence of the gap by labels.",
    OF_COMPARISON,
)
MONITOR_LABELLED_EVIDENCE = Gauge(
    "biaswatch_monitor_labelled_log_evidence",
    "Log e-value by labels against gaps within tolerance.",
    OF_COMPARISON,
)
MONITOR_ALARM = Gauge(
    "biaswatch_monitor_alarm",
    "1 while an alarm of this kind stands: disparity, change, level, or labelled.",
    [*OF_COMPARISON, "what"],
)
ALARM_ATTEMPTS = Counter(
    "biaswatch_alarm_attempts_total",
    "Attempts to send an alarm, by channel and outcome: delivered, unavailable, refused, expired,"
    " failed (a fault of biaswatch).",
    ["channel", "outcome"],
)
ALARM_DELIVERY_STATES = Gauge(
    "biaswatch_alarm_deliveries",
    "Alarms of the last day on their way to a channel: waiting, delivered, refused, expired.",
    ["channel", "state"],
)
MONITOR_SMALLEST_CHANGE = Gauge(
    "biaswatch_monitor_smallest_change",
    "The smallest change that would be found by now, as a share of the range: change or level.",
    [*OF_COMPARISON, "what"],
)
MONITOR_ALPHA = Gauge(
    "biaswatch_monitor_alpha",
    "Probability of any false alarm of a monitor, ever; those of several monitors add up.",
    ["tenant", "monitor"],
)
MONITOR_ALPHA_LEFT = Gauge(
    "biaswatch_monitor_alpha_left",
    "What of that probability is left for later epochs and alarms, at least.",
    ["tenant", "monitor"],
)
MONITOR_LAST_ROUND = Gauge(
    "biaswatch_monitor_last_round_timestamp_seconds",
    "When a round was last added to the evidence (Unix time); its age is time() minus this.",
    ["tenant", "monitor"],
)
MONITOR_MISSED = Gauge(
    "biaswatch_monitor_round_missed_records",
    "Measurements the last round expected and did not get.",
    ["tenant", "monitor"],
)
MONITOR_OVERDUE = Gauge(
    "biaswatch_monitor_next_round_timestamp_seconds",
    "When the next round is due (Unix time); long past, where rounds do not begin.",
    ["tenant", "monitor"],
)
MONITOR_ANSWERS = Gauge(
    "biaswatch_monitor_answers",
    "Production answers sent in for a monitor, ever, by what became of each: evidence, described,"
    " unmeasured, without_text, without_group, waiting, late, duplicate, refused.",
    ["tenant", "monitor", "account"],
)
UNWATCHED_ANSWERS = Gauge(
    "biaswatch_unwatched_answers",
    "Production answers sent in, ever, of live systems that no monitor watched; none is kept.",
    ["tenant", "source"],
)
TROUBLES = Counter(
    "biaswatch_troubles_total",
    "What went wrong and was tried again, each time; the log says it once a minute.",
    ["part", "error"],
)
DISK_FREE = Gauge("biaswatch_disk_free_bytes", "Free space of the disk of the state directory.")
DISK_SIZE = Gauge("biaswatch_disk_size_bytes", "Size of the disk of the state directory.")
NOT_TAKEN = Counter(
    "biaswatch_not_taken_records_total",
    "Records that the bus did not take in time, each try; its disk may be full.",
)
AUDIT_ENTRIES = Counter(
    "biaswatch_audit_entries_total", "Entries of the audit trail, by action.", ["action"]
)
AUDIT_UNANCHORED = Counter(
    "biaswatch_audit_unanchored_total",
    "Entries of the audit trail whose anchor the bus did not take.",
)
REDACTIONS = Counter(
    "biaswatch_redactions_total",
    "What was replaced in production answers at intake, by what stands there instead.",
    ["pattern"],
)
OTLP_SIGNALS = Counter(
    "biaswatch_otlp_signals_total",
    "Spans and log events that were sent over OTLP, by what became of them: answer, part of an"
    " answer, no text in it, not of an answer, outside the share, refused.",
    ["outcome"],
)
EVALUATIONS = Counter(
    "biaswatch_evaluations_total",
    "Evaluations for the traces of their answers, by what became of them: sent, refused, expired.",
    ["outcome"],
)
TOKENS_FILE_WRONG = Gauge(
    "biaswatch_tokens_file_wrong",
    "1 while the tokens file cannot be read or understood, and the tokens before it stay.",
)
LOOKS = Counter(
    "biaswatch_operator_looks_total",
    "Looks of the operator at resources, by what came of them: in_order, waiting, refused,"
    " unreachable.",
    ["resources", "outcome"],
)
READY = Gauge("biaswatch_ready", "1 while the service takes work.", ["service"])


def configure_logs(level: str = "INFO", *, stream: TextIO | None = None) -> None:
    """Write one JSON object a line to standard error, or for people where that is a terminal."""
    out = stream or sys.stderr
    render = (
        structlog.dev.ConsoleRenderer() if out.isatty() else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.format_exc_info,
            _forwarded,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level)),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )


LogSink = Callable[[str, Mapping[str, Any]], None]
"""Takes the level and the fields of an entry, beside standard error."""
_SINKS: list[LogSink] = []


def forward_logs(sink: LogSink | None) -> None:
    """Hand every entry to a sink as well, or no longer."""
    _SINKS[:] = [] if sink is None else [sink]


def _forwarded(_: Any, method: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for sink in _SINKS:
        sink(str(entry.get("level", method)).upper(), entry)
    return entry


def log(name: str) -> structlog.typing.FilteringBoundLogger:
    """Return the logger of one part of the platform."""
    bound: structlog.typing.FilteringBoundLogger = structlog.get_logger(part=name)
    return bound


SAID_AGAIN_AFTER_S = 60.0


class RepeatedWarning:
    """Says what keeps going wrong once a minute and how often it did; counts it every time."""

    def __init__(
        self, part: str, event: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._part, self._event, self._clock = part, event, clock
        self._said: dict[str, tuple[float, int]] = {}
        """By kind of error: when it was last said, and how often it happened since."""

    def warn(self, error: BaseException, **more: object) -> None:
        """Count an error, and log it unless its kind was logged within the last minute."""
        kind = type(error).__name__
        TROUBLES.labels(self._part, kind).inc()
        now, (at, since) = self._clock(), self._said.get(kind, (float("-inf"), 0))
        if now - at < SAID_AGAIN_AFTER_S:
            self._said[kind] = (at, since + 1)
            return
        self._said[kind] = (now, 0)
        log(self._part).warning(self._event, error=f"{kind}: {error}", times=since + 1, **more)
