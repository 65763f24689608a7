"""What `diagnose --extract` reads: recorded answers, measured here and now."""

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from biaswatch.cli.diagnosis_input import DiagnosisInput
from biaswatch.cli.log_options import log_file
from biaswatch.importing.formats import LogFormat
from biaswatch.importing.log_files import left_out_in_words
from biaswatch.measuring import TextMeasurer
from biaswatch.readers.run_tables import RunColumns, RunTable, run_observations, run_warnings
from shared.contracts import Claim
from shared.errors import UsageError


def log_input(
    path: Path,
    columns: RunColumns,
    extractors: list[str],
    format_: LogFormat | None,
    mapping: Path | None,
) -> DiagnosisInput:
    """Return the measured answers of a log; an answer that is in it twice counts once.

    Raises
    ------
    UsageError
        The log, its mapping, an extractor, a group or a feature cannot be used.
    """
    measurer = TextMeasurer.named(extractors)
    left_out: Counter[str] = Counter()
    answers = {
        answer["id"]: answer for _, answer in log_file(path, format_, mapping).answers(left_out)
    }
    if not answers:
        why = " ".join(left_out_in_words(left_out))
        raise UsageError(f"{path} holds no answer. {why}".strip())
    console = Console(stderr=True)
    table = RunTable(measurer.declared(str(path), len(answers)), of=f"The log {path}")
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("measuring", total=len(answers))
        for answer in measurer.measured_answers(answers.values()):
            table.add(answer)
            bars.advance(task)
    rows = run_observations(table, columns)
    warnings = [*left_out_in_words(left_out), *run_warnings(table, rows)]
    return DiagnosisInput(rows, warnings, columns.unit or "unit", columns.set, Claim.POPULATION)
