"""Logs of answers for tests: rows written to a file, measured and diagnosed."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from biaswatch.diagnosis.diagnosis import DiagnosisResult, diagnose_rows
from biaswatch.diagnosis.logs import log_input
from biaswatch.diagnosis.sources import DiagnosisInput
from biaswatch.readers.run_observations import RunColumns
from biaswatch.shared.conventions.rows import LogFormat
from biaswatch.shared.requests.diagnoses import DiagnoseRequest

REQUEST = DiagnoseRequest(statistic=("mean",), permutations=0)
WORDS = RunColumns(groups=["grp"], features=["words"])


def written_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSON lines; return the file."""
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def measured_log(
    path: Path, mapping: Mapping[str, Any] | None = None, format_: LogFormat | None = None
) -> DiagnosisInput:
    """Return the words of each answer of a log, by the group `grp`."""
    file = None
    if mapping is not None:
        file = path.with_suffix(".map.yaml")
        file.write_text(json.dumps(mapping))
    return log_input(path, WORDS, ["length"], format_, file)


def diagnosed_log(path: Path) -> DiagnosisResult:
    """Return the diagnosis of a log, without relabellings."""
    return diagnose_rows(measured_log(path), REQUEST)
