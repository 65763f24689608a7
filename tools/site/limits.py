"""The page of the limits that no setting changes, from the constants of the code."""

from biaswatch.readers import parquet_files, table_limits
from biaswatch.services.gateway import bodies, json_bodies, middleware
from biaswatch.services.gateway.otlp import joining, protobuf, protobuf_fields, wire
from biaswatch.services.gateway.searches.commands import MAX_SPACE_BYTES
from biaswatch.services.gateway.traffic.batches import MAX_QUEUED
from biaswatch.services.generator.domain.outcome import MAX_ANSWER_BYTES
from biaswatch.shared.bus.port import MAX_RECORD_BYTES
from biaswatch.shared.bus.retry_policy import RetryPolicy
from biaswatch.shared.bus.topology import DISK_SHARE, StreamLimits
from biaswatch.shared.contracts.dropin import MOST_FEATURES
from biaswatch.shared.contracts.suite_limits import (
    LARGEST_PROBE_BYTES,
    MOST_MONITORS,
    MOST_PROBES,
    MOST_RUNS,
    MOST_SEARCHES,
)
from biaswatch.shared.files import LARGEST_LINE_BYTES
from biaswatch.shared.llm.bounded_replies import MAX_REPLY_BYTES
from biaswatch.shared.llm.replay import MAX_FILE_BYTES
from biaswatch.shared.parsing import json_objects, yaml_values
from biaswatch.shared.requests.runs import MOST_JUDGEMENTS, MOST_TARGETS
from biaswatch.shared.requests.traffic import (
    MAX_BATCH,
    MAX_CLOCK_SKEW,
    MAX_EXCHANGE_BYTES,
    MAX_LABELS,
    MAX_MESSAGES,
)
from biaswatch.shared.runtime.process_limits import LEAST_FILES, RESERVED_FILES
from biaswatch.shared.runtime.web import MAX_CONNECTIONS

KIB, MIB, GIB = 1024, 1024**2, 1024**3
USUAL = StreamLimits()
LIMITS: tuple[tuple[str, str, str], ...] = (
    (
        "questions of one run, or of one round of a monitor",
        f"{MOST_PROBES:,}",
        "`BIASWATCH_GATEWAY_RUN_PROBES`",
    ),
    (
        "runs of one tenant under way, besides rounds of monitors",
        f"{MOST_RUNS}",
        "`BIASWATCH_GATEWAY_RUNS_UNDER_WAY`",
    ),
    (
        "searches of one tenant under way",
        f"{MOST_SEARCHES}",
        "`BIASWATCH_GATEWAY_SEARCHES_UNDER_WAY`",
    ),
    ("space of a search, as JSON", f"{MAX_SPACE_BYTES // MIB} MiB", ""),
    (
        "monitors of one tenant, paused and ended ones included",
        f"{MOST_MONITORS}",
        "`BIASWATCH_GATEWAY_MONITORS`",
    ),
    ("targets of one run", f"{MOST_TARGETS}", ""),
    ("judges, and repeats, of one interpretation", f"{MOST_JUDGEMENTS}", ""),
    (
        "probe of a suite, as JSON",
        f"{LARGEST_PROBE_BYTES // KIB} KiB",
        "its response has to fit on the bus",
    ),
    ("record on the bus", f"{MAX_RECORD_BYTES // KIB} KiB", ""),
    (
        "request with a token",
        f"{middleware.MAX_BYTES // MIB} MiB, {json_bodies.MAX_VALUES:,} values",
        "a proxy in front may allow less",
    ),
    (
        "suite that is uploaded",
        f"{middleware.MAX_STREAMED_BYTES['/v1/suites'] // MIB} MiB",
        "the gateway streams it",
    ),
    ("request without a token", f"{middleware.MAX_ANONYMOUS_BYTES // KIB} KiB", ""),
    ("production answers in one request", f"{MAX_BATCH:,}", "senders batch"),
    (
        "request with production answers",
        f"{middleware.MAX_STREAMED_BYTES['/v1/responses'] // MIB} MiB",
        "the gateway streams it, to disk above 1 MiB",
    ),
    ("groups, and facts, of one production answer", f"{MAX_LABELS}", ""),
    ("messages of one production answer", f"{MAX_MESSAGES:,}", ""),
    ("one production answer with its question", f"{MAX_EXCHANGE_BYTES // KIB} KiB", ""),
    (
        "production answers of one live system that wait",
        f"{MAX_QUEUED:,}, then HTTP 429 with `Retry-After`",
        "",
    ),
    (
        "OTLP request, packed and unpacked",
        (
            f"{wire.MAX_BYTES // MIB} MiB, {wire.MAX_RATIO} times its packed size beyond "
            f"{wire.RATIO_FREE_BYTES // MIB} MiB, {protobuf_fields.MAX_MESSAGES:,} spans, "
            f"{protobuf.MAX_VALUES:,} attributes and values"
        ),
        "",
    ),
    (
        "one span, or log record, of OTLP",
        (
            f"{protobuf_fields.MAX_SIGNAL_BYTES // MIB} MiB, "
            f"{protobuf_fields.MAX_SIGNAL_FIELDS:,} fields if above 64 KiB; only that span or "
            "log record is refused"
        ),
        "",
    ),
    (
        "requests of one tenant that are read, and handled, at the same time",
        (
            f"{bodies.READ_PER_TENANT}, and {bodies.HANDLED_PER_TENANT}; others wait "
            f"{bodies.WAIT_S:.0f} s, then HTTP 429 with `Retry-After`"
        ),
        "",
    ),
    (
        "connections to the gateway",
        f"{MAX_CONNECTIONS:,}, and {RESERVED_FILES} fewer than the limit of open files",
        "`ulimit -n`; the gateway raises it at startup as far as possible",
    ),
    ("open files of a process", f"{LEAST_FILES} at least", "`ulimit -n`"),
    ("parts of a traced answer wait for the rest", f"{joining.MAX_WAIT.total_seconds():.0f} s", ""),
    ("clock of a sender ahead of ours", f"{MAX_CLOCK_SKEW.total_seconds() / 60:.0f} minutes", ""),
    ("reply of a model, unpacked", f"{MAX_REPLY_BYTES // MIB} MiB", ""),
    (
        "answer that is kept",
        f"{MAX_ANSWER_BYTES // KIB} KiB; a longer one counts as missing, with the reason",
        "",
    ),
    ("file of recorded answers", f"{MAX_FILE_BYTES // MIB} MiB", ""),
    ("features of one extractor", f"{MOST_FEATURES}", ""),
    (
        "deliveries of a record while something is down",
        (
            f"{RetryPolicy().transient_attempts}, about a quarter of an hour; then a dead "
            "letter. 1,000 for a probe, which waits while its target is paused and is "
            "redelivered whenever a process ends"
        ),
        "",
    ),
    (
        "records on the bus",
        (
            f"{USUAL.kept_days} days, and {USUAL.stream_bytes // GIB} GiB of a large stream, "
            f"{USUAL.small_stream_bytes // MIB} MiB of others; on an embedded bus, "
            f"{DISK_SHARE:.0%} of the free disk in total"
        ),
        "`biaswatch admin provision` reserves the space",
    ),
    ("dead letters", f"{USUAL.dead_kept_days} days", ""),
    (
        "dead letters of wrong answers that one tenant sent over the bus",
        f"{USUAL.dead_per_tenant:,}; the oldest are dropped first",
        "",
    ),
    (
        "probes of one target, answers of one live system on the bus",
        f"{USUAL.outstanding:,}; then the planner waits",
        (
            "A bus key for `ingest` may name any number of systems, so the size of the stream "
            "limits all of them together"
        ),
    ),
    (
        "file of a table",
        (
            f"{table_limits.LARGEST_BYTES // MIB} MiB, {table_limits.MOST_COLUMNS:,} columns, "
            f"{table_limits.MOST_CELLS:,} cells"
        ),
        "",
    ),
    ("Parquet file, unfolded", f"{parquet_files.MOST_BYTES // GIB} GiB", ""),
    ("line of a log in JSON", f"{LARGEST_LINE_BYTES // MIB} MiB", ""),
    (
        "YAML",
        (
            f"{yaml_values.MAX_CHARACTERS // MIB} MiB, {yaml_values.MAX_VALUES:,} values, "
            "including repeats through aliases"
        ),
        "",
    ),
    ("levels of JSON and YAML", f"{json_objects.MAX_LEVELS}", ""),
)
"""What is limited, the limit, and a note or the setting that changes it."""
