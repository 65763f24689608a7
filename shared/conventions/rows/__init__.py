"""Formats of recorded answers in rows: a module for each source, and their registry."""

from collections.abc import Mapping
from enum import StrEnum

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.rows import (
    deepeval,
    helm,
    inspect,
    langsmith,
    lm_eval,
    observability,
    promptfoo,
    providers,
)
from biaswatch.shared.conventions.rows.form import RowFormat
from biaswatch.shared.conventions.signals import Fields


class LogFormat(StrEnum):
    """Format of a file of recorded answers."""

    OTLP = "otlp"
    OPENAI_BATCH = "openai-batch"
    ANTHROPIC_BATCH = "anthropic-batch"
    OPENAI = "openai"
    INSPECT = "inspect"
    LM_EVAL = "lm-eval"
    PROMPTFOO = "promptfoo"
    HELM = "helm"
    DEEPEVAL = "deepeval"
    OPENINFERENCE = "openinference"
    LANGFUSE = "langfuse"
    LANGSMITH = "langsmith"
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


GENERIC = RowFormat(
    lambda row: True,
    lambda row: RecordedContent(),  # the mapping names all fields
    FieldMapping(
        id=("id",), time=("at",), prompt=("messages", "prompt"), text=("text",),
        reason=("reason",), unit=("unit",), model=("model",),
    ),
)  # fmt: skip
FORMATS: Mapping[LogFormat, RowFormat] = {
    LogFormat.OPENAI_BATCH: providers.OPENAI_BATCH,
    LogFormat.ANTHROPIC_BATCH: providers.ANTHROPIC_BATCH,
    LogFormat.INSPECT: inspect.FORMAT,
    LogFormat.HELM: helm.FORMAT,
    LogFormat.LM_EVAL: lm_eval.FORMAT,
    LogFormat.PROMPTFOO: promptfoo.FORMAT,
    LogFormat.DEEPEVAL: deepeval.FORMAT,
    LogFormat.OPENAI: providers.CALL,
    LogFormat.OPENINFERENCE: observability.OPENINFERENCE,
    LogFormat.LANGFUSE: observability.LANGFUSE,
    LogFormat.LANGSMITH: langsmith.FORMAT,
    LogFormat.JSONL: GENERIC,
    LogFormat.CSV: GENERIC,
    LogFormat.PARQUET: GENERIC,
}
"""Formats in order of recognition; OTLP has a reader of its own."""


def detected(row: Fields, suffix: str) -> LogFormat:
    """Return the format of a file, from its first row or else from its extension."""
    if row.keys() & {"resourceSpans", "resourceLogs"}:
        return LogFormat.OTLP
    known = (name for name, form in FORMATS.items() if form is not GENERIC and form.is_row(row))
    endings = {".csv": LogFormat.CSV, ".parquet": LogFormat.PARQUET}
    return next(known, endings.get(suffix.lower(), LogFormat.JSONL))
