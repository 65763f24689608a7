"""The limits of docs/limits.md are those of the code."""

import re
from pathlib import Path
from typing import Any

import pytest

from biaswatch.building.settings import BuilderSettings
from biaswatch.readers import parquet_files, table_limits
from biaswatch.services.evaluator.settings import EvaluatorSettings
from biaswatch.services.extractor.settings import ExtractorSettings
from biaswatch.services.gateway import bodies, json_bodies, middleware
from biaswatch.services.gateway.otlp import joining, protobuf, protobuf_fields, wire
from biaswatch.services.gateway.searches.commands import MAX_SPACE_BYTES
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.traffic.batches import MAX_QUEUED
from biaswatch.services.generator.domain.outcome import MAX_ANSWER_BYTES
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.services.oracle.settings import OracleSettings
from biaswatch.services.planner.settings import PlannerSettings
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
from biaswatch.shared.runtime.process import LEAST_FILES, RESERVED_FILES
from biaswatch.shared.runtime.web import MAX_CONNECTIONS

KIB, MIB, GIB = 1024, 1024**2, 1024**3
USUAL = StreamLimits()
SETTINGS = {
    each.__name__.removesuffix("Settings").lower(): each
    for each in (
        *(BuilderSettings, EvaluatorSettings, ExtractorSettings, GatewaySettings),
        *(GeneratorSettings, OracleSettings, PlannerSettings),
    )
}
LIMITS = {
    "questions of one run, or of one round of a monitor": f"{MOST_PROBES:,}",
    "targets of one run": f"{MOST_TARGETS}",
    "judges, and repeats, of one interpretation": f"{MOST_JUDGEMENTS}",
    "runs of one tenant under way, besides rounds of monitors": f"{MOST_RUNS}",
    "searches of one tenant under way": f"{MOST_SEARCHES}",
    "space of a search, as JSON": f"{MAX_SPACE_BYTES // MIB} MiB",
    "monitors of one tenant, paused and ended ones included": f"{MOST_MONITORS}",
    "probe of a suite, as JSON": f"{LARGEST_PROBE_BYTES // KIB} KiB",
    "record on the bus": f"{MAX_RECORD_BYTES // KIB} KiB",
    "request with a token":
    f"{middleware.MAX_BYTES // MIB} MiB, {json_bodies.MAX_VALUES:,} values",
    "suite that is uploaded": f"{middleware.MAX_STREAMED_BYTES['/v1/suites'] // MIB} MiB",
    "request with production answers":
    f"{middleware.MAX_STREAMED_BYTES['/v1/responses'] // MIB} MiB",
    "groups, and facts, of one production answer": f"{MAX_LABELS}",
    "messages of one production answer": f"{MAX_MESSAGES:,}",
    "one span, or log record, of OTLP":
    f"{protobuf_fields.MAX_SIGNAL_BYTES // MIB} MiB, {protobuf_fields.MAX_SIGNAL_FIELDS:,}",
    "requests of one tenant that are read, and handled, at the same time":
    f"{bodies.READ_PER_TENANT}, and {bodies.HANDLED_PER_TENANT}; others wait"
    f" {bodies.WAIT_S:.0f} s",
    "connections to the gateway": f"{MAX_CONNECTIONS:,}, and {RESERVED_FILES} fewer",
    "open files of a process": f"{LEAST_FILES} at least",
    "request without a token": f"{middleware.MAX_ANONYMOUS_BYTES // KIB} KiB",
    "production answers in one request": f"{MAX_BATCH:,}",
    "one production answer with its question": f"{MAX_EXCHANGE_BYTES // KIB} KiB",
    "production answers of one live system that wait": f"{MAX_QUEUED:,}",
    "OTLP request, packed and unpacked": f"{wire.MAX_BYTES // MIB} MiB, {wire.MAX_RATIO} times its"
    f" packed size beyond {wire.RATIO_FREE_BYTES // MIB} MiB,"
    f" {protobuf_fields.MAX_MESSAGES:,} spans, {protobuf.MAX_VALUES:,} attributes",
    "parts of a traced answer wait for the rest": f"{joining.MAX_WAIT.total_seconds():.0f} s",
    "clock of a sender ahead of ours": f"{MAX_CLOCK_SKEW.total_seconds() / 60:.0f} minutes",
    "reply of a model, unpacked": f"{MAX_REPLY_BYTES // MIB} MiB",
    "answer that is kept": f"{MAX_ANSWER_BYTES // KIB} KiB",
    "file of recorded answers": f"{MAX_FILE_BYTES // MIB} MiB",
    "features of one extractor": f"{MOST_FEATURES}",
    "deliveries of a record while something is down": f"{RetryPolicy().transient_attempts}",
    "records on the bus": f"{USUAL.kept_days} days, and {USUAL.stream_bytes // GIB} GiB of a large"
    f" stream, {USUAL.small_stream_bytes // MIB} MiB of others",
    "dead letters": f"{USUAL.dead_kept_days} days",
    "dead letters of wrong answers that one tenant sent over the bus":
    f"{USUAL.dead_per_tenant:,}",
    "probes of one target, answers of one live system on the bus": f"{USUAL.outstanding:,}",
    "file of a table": f"{table_limits.LARGEST_BYTES // MIB} MiB, {table_limits.MOST_COLUMNS:,}"
    f" columns, {table_limits.MOST_CELLS:,} cells",
    "Parquet file, unfolded": f"{parquet_files.MOST_BYTES // GIB} GiB",
    "line of a log in JSON": f"{LARGEST_LINE_BYTES // MIB} MiB",
    "YAML": f"{yaml_values.MAX_CHARACTERS // MIB} MiB, {yaml_values.MAX_VALUES:,} values",
    "levels of JSON and YAML": f"{json_objects.MAX_LEVELS}",
}  # fmt: skip


def rows(request: pytest.FixtureRequest) -> dict[str, tuple[str, str]]:
    page = Path(request.config.rootpath / "docs" / "limits.md").read_text()
    found = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("|")]
    return {what.strip(): (limit.strip(), how.strip()) for what, limit, how in found[2:]}


def default_of(variable: str) -> Any:
    service, _, _ = variable.removeprefix("BIASWATCH_").lower().partition("_")
    return SETTINGS[service].model_fields[variable.removeprefix("BIASWATCH_").lower()].default


def shown(value: float | None) -> set[str]:
    """Return the ways in which a page may write a default."""
    if value is None:
        return {"none"}
    ways = {f"{value:,.0f}", f"{value:g} s", f"{value / 60:g} minutes", f"{value / 3600:g} hours"}
    return ways | {f"{value / MIB:g} MiB"}


def test_the_page_names_the_limits_of_the_code(request: pytest.FixtureRequest) -> None:
    page = rows(request)
    assert DISK_SHARE == 0.5  # "half of the free disk"
    said = {what: page[what][0] for what in LIMITS}
    wrong = {what: said[what] for what, limit in LIMITS.items() if not said[what].startswith(limit)}
    assert wrong == {}


def test_a_setting_of_the_table_exists_and_has_the_default_that_it_names(
    request: pytest.FixtureRequest,
) -> None:
    checked = 0
    for what, (limit, how) in rows(request).items():
        for variable in re.findall(r"BIASWATCH_[A-Z_]+", how):
            value = default_of(variable)
            assert any(way in limit for way in shown(value)), (what, limit, variable, value)
            checked += 1
    assert checked >= 12
