"""Prometheus metrics and structured logs, the same in every service."""

import logging
import sys
import time
import traceback
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TextIO

import structlog
from prometheus_client import Counter, Gauge, Histogram

HANDLED = Counter(
    "biaswatch_stage_records_total",
    "Records settled by a stage, by outcome: accepted, retried, dead_letter.",
    ["stage", "outcome"],
)
HANDLE_SECONDS = Histogram(
    "biaswatch_stage_handle_seconds",
    "Time from receiving a batch of records to settling it.",
    ["stage"],
    buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 30, 120, 600),
)
LAG = Gauge(
    "biaswatch_stage_lag_records",
    "Records waiting on the bus for this stage, without those being handled.",
    ["stage"],
)
LAST_SUCCESS = Gauge(
    "biaswatch_stage_last_success_timestamp_seconds",
    "Unix time of the last record that the stage settled successfully.",
    ["stage"],
)
PUBLISHED = Counter("biaswatch_published_records_total", "Records accepted by the bus.", ["record"])
COMPARISONS = Counter(
    "biaswatch_comparisons_total",
    "Comparisons of groups concluded by the diagnoser, by verdict.",
    ["verdict"],
)
CALLS = Counter(
    "biaswatch_calls_total",
    "Attempts of calls to a target, by outcome: answered, or the name of the failure.",
    ["target", "outcome"],
)
CALL_SECONDS = Histogram(
    "biaswatch_call_seconds",
    "Time of one attempt of a call to a target.",
    ["target"],
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300),
)
TOKENS = Counter(
    "biaswatch_call_tokens_total", "Tokens read and written by a target.", ["target", "direction"]
)
COST = Counter(
    "biaswatch_call_cost_total", "Cost of a target, in the currency of the price table.", ["target"]
)
CALLS_ALLOWED = Gauge(
    "biaswatch_calls_allowed", "Limit of calls in flight to a target.", ["target"]
)
TARGET_PAUSED = Gauge(
    "biaswatch_target_paused",
    "1 while probes of a target wait because it refuses every call.",
    ["target"],
)
CALLS_KEPT = Counter(
    "biaswatch_calls_kept_total",
    "Calls answered from the store instead of being paid for again.",
    ["target"],
)
SEARCHES = Gauge(
    "biaswatch_searches_under_way", "Searches under way, by state: running, waiting.", ["state"]
)
SEARCH_ROUNDS = Counter("biaswatch_search_rounds_total", "Closed rounds of searches.")
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
    "1 for a disparity, -1 for none beyond the tolerance, 0 for inconclusive.",
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
    "1 while an alarm of this kind is raised: disparity, change, level, or labelled.",
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
    "Smallest change that could be detected by now, as a share of the range: change or level.",
    [*OF_COMPARISON, "what"],
)
MONITOR_ALPHA = Gauge(
    "biaswatch_monitor_alpha",
    "Probability of any false alarm of a monitor over its lifetime.",
    ["tenant", "monitor"],
)
MONITOR_ALPHA_LEFT = Gauge(
    "biaswatch_monitor_alpha_left",
    "Part of that probability that is left for later epochs and alarms, at least.",
    ["tenant", "monitor"],
)
MONITOR_LAST_ROUND = Gauge(
    "biaswatch_monitor_last_round_timestamp_seconds",
    "Unix time at which a round was last added to the evidence.",
    ["tenant", "monitor"],
)
MONITOR_MISSED = Gauge(
    "biaswatch_monitor_round_missed_records",
    "Expected measurements that the last round did not get.",
    ["tenant", "monitor"],
)
MONITOR_OVERDUE = Gauge(
    "biaswatch_monitor_next_round_timestamp_seconds",
    "Unix time at which the next round is due; in the past if rounds do not start.",
    ["tenant", "monitor"],
)
MONITOR_ANSWERS = Gauge(
    "biaswatch_monitor_answers",
    "Production answers received for a monitor, by outcome: evidence, described,"
    " unmeasured, without_text, without_group, waiting, late, duplicate,"
    " refused (shown as rejected).",
    ["tenant", "monitor", "account"],
)
UNWATCHED_ANSWERS = Gauge(
    "biaswatch_unwatched_answers",
    "Production answers received from live systems without a monitor; they are not stored.",
    ["tenant", "source"],
)
TROUBLES = Counter(
    "biaswatch_troubles_total",
    "Errors that are retried, by kind; the log repeats each kind once a minute at most.",
    ["part", "error"],
)
DISK_FREE = Gauge("biaswatch_disk_free_bytes", "Free space of the disk of the state directory.")
DISK_SIZE = Gauge("biaswatch_disk_size_bytes", "Size of the disk of the state directory.")
NOT_TAKEN = Counter(
    "biaswatch_not_taken_records_total",
    "Attempts to publish that the bus did not accept in time; its disk may be full.",
)
AUDIT_ENTRIES = Counter(
    "biaswatch_audit_entries_total", "Entries of the audit trail, by action.", ["action"]
)
AUDIT_UNANCHORED = Counter(
    "biaswatch_audit_unanchored_total",
    "Entries of the audit trail whose anchor the bus did not accept.",
)
REDACTIONS = Counter(
    "biaswatch_redactions_total",
    "Redactions in production answers at intake, by pattern.",
    ["pattern"],
)
OTLP_SIGNALS = Counter(
    "biaswatch_otlp_signals_total",
    "Spans and log events received over OTLP, by outcome: answer, part of an"
    " answer, step of an agent, no text in it, not of an answer, outside the share, refused.",
    ["outcome"],
)
EVALUATIONS = Counter(
    "biaswatch_evaluations_total",
    "Evaluations sent to the traces of their answers, by outcome: sent, refused, expired.",
    ["outcome"],
)
TOKENS_FILE_WRONG = Gauge(
    "biaswatch_tokens_file_wrong",
    "1 while the tokens file is invalid and the previous tokens stay in force.",
)
OPERATOR_LOOKS = Counter(
    "biaswatch_operator_looks_total",
    "Checks of resources by the operator, by outcome: in_order, waiting, refused, unreachable.",
    ["resources", "outcome"],
)
READY = Gauge("biaswatch_ready", "1 while the service accepts work.", ["service"])


def configure_logs(level: str = "INFO", *, stream: TextIO | None = None) -> None:
    """Log JSON lines to standard error, or readable lines if it is a terminal."""
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
    logging.basicConfig(level=logging.WARNING, handlers=[LibraryLogs()])


LOGGED_FRAMES = 5
"""Frames of a traceback in a log entry."""


class LibraryLogs(logging.Handler):
    """Writes warnings of libraries in the platform's format."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a warning; an exception with its last frames, innermost last."""
        entry: dict[str, Any] = {"why": record.getMessage()}
        if record.exc_info and (error := record.exc_info[1]):
            entry["error"] = f"{type(error).__name__}: {error}"
            frames = traceback.extract_tb(error.__traceback__)[-LOGGED_FRAMES:]
            entry["where"] = [f"{f.filename}:{f.lineno} {f.name}" for f in frames]
        log(record.name).log(record.levelno, "library", **entry)


LogSink = Callable[[str, Mapping[str, Any]], None]
"""Takes the level and the fields of a log entry."""
_SINKS: list[LogSink] = []


def forward_logs(sink: LogSink | None) -> None:
    """Send log entries to a sink as well; None stops that."""
    _SINKS[:] = [] if sink is None else [sink]


def _forwarded(_: Any, method: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for sink in _SINKS:
        sink(str(entry.get("level", method)).upper(), entry)
    return entry


def log(name: str) -> structlog.typing.FilteringBoundLogger:
    """Return the logger of one part of the platform."""
    bound: structlog.typing.FilteringBoundLogger = structlog.get_logger(part=name)
    return bound


REPEAT_AFTER_S = 60.0


class RepeatedWarning:
    """Logs a recurring error once a minute with its count; the metric counts every time."""

    def __init__(
        self, part: str, event: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._part, self._event, self._clock = part, event, clock
        self._logged: dict[str, tuple[float, int]] = {}
        """By kind of error: time of the last log entry, and occurrences since."""

    def warn(self, error: BaseException, **more: object) -> None:
        """Count an error, and log it unless its kind was logged within the last minute."""
        kind = type(error).__name__
        TROUBLES.labels(self._part, kind).inc()
        now, (at, since) = self._clock(), self._logged.get(kind, (float("-inf"), 0))
        if now - at < REPEAT_AFTER_S:
            self._logged[kind] = (at, since + 1)
            return
        self._logged[kind] = (now, 0)
        log(self._part).warning(self._event, error=f"{kind}: {error}", times=since + 1, **more)
