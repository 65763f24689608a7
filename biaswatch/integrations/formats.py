"""The registry of exports: a module of this package for each format."""

from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any

from biaswatch.local.client import GatewayClient

ANSWERS = "answers"
ANY_RUN, RUN_OR_MONITOR, SUITE = "run, monitor or live system", "run or monitor", "suite"
RUN, LOG = "run", "log of Inspect or lm-evaluation-harness"
ALL_SUITES = "all"


@dataclass(frozen=True)
class ExportRequest:
    """A source to export, and its destination."""

    source: str
    """A run's id, the name of a monitor or a live system, or a suite."""
    destination: str
    """A file, a folder, or the address of a server."""
    since: datetime | None
    connect: Callable[[], AbstractAsyncContextManager[GatewayClient]]
    """Connects to the gateway; exports of suites do not use it."""


@dataclass(frozen=True)
class ExportFormat:
    """A format of `biaswatch export`."""

    source: str
    """The kind of source."""
    content: str
    destination: str
    """The kind of destination, which `-o` names."""
    module: str

    @property
    def write(self) -> Callable[[ExportRequest], Coroutine[Any, Any, str]]:
        """The function that exports, and returns a sentence about it."""
        written: Callable[[ExportRequest], Coroutine[Any, Any, str]] = import_module(
            f"{__package__}.{self.module}"
        ).export
        return written


FORMATS: Mapping[str, ExportFormat] = {
    ANSWERS: ExportFormat(
        ANY_RUN, "every answer, a row each", ".parquet, .csv or .jsonl file", "answers"
    ),
    "dataset": ExportFormat(
        ANY_RUN, "everything, in tables of Parquet with views for DuckDB", "folder", "dataset"
    ),
    "mlflow": ExportFormat(
        RUN_OR_MONITOR,
        "findings, reports and figures as an MLflow run",
        "tracking server",
        "mlflow",
    ),
    "lm-eval": ExportFormat(SUITE, "a task of lm-evaluation-harness", "folder", "lm_eval"),
    "nemo-evaluator": ExportFormat(
        SUITE, "a harness of NeMo Evaluator", "folder", "nemo_evaluator"
    ),
    "evalhub": ExportFormat(
        f"suite of this package, or `{ALL_SUITES}` suites",
        "a provider of EvalHub",
        ".yaml file",
        "evalhub",
    ),
    "bias-profile": ExportFormat(
        RUN_OR_MONITOR, "groups, hazards, measures, results, owner", ".json file", "bias_profile"
    ),
    "croissant": ExportFormat(SUITE, "questions with Croissant metadata", "folder", "croissant"),
    "openlineage": ExportFormat(RUN, "events of OpenLineage", ".jsonl file", "openlineage"),
    "replay": ExportFormat(LOG, "answers for --target replay:FILE", ".jsonl file", "replay"),
}
"""The formats of `--to`."""


def formats_in_words() -> str:
    """Return the formats as paragraphs of a help text."""
    lines = (
        f"--to {name}: {form.content}; of a {form.source}; -o names a {form.destination}."
        for name, form in FORMATS.items()
    )
    return "\n\n".join(lines)
