"""Writes a suite and its report; a folder is whole or not there."""

import json
import shutil
import tempfile
from pathlib import Path

from services.builder.domain.report import report_json, report_markdown
from services.builder.domain.suite_files import PROBES_FILE, header_text, rows_text
from services.builder.handlers.building import Built
from shared.errors import UsageError

OURS = {"suite.yaml", PROBES_FILE, "report.json", "report.md"}


def write_suite(built: Built, folder: Path) -> list[Path]:
    """Write the suite's files; give where they are. Other files of the folder stay.

    Raises
    ------
    UsageError
        The folder cannot be written.
    """
    texts = {
        PROBES_FILE: rows_text(built.rows),
        "suite.yaml": header_text(built.header),
        "report.json": json.dumps(report_json(built.quality, built.ledger), indent=2) + "\n",
        "report.md": report_markdown(str(built.header["name"]), built.quality, built.ledger),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Written beside and moved, the header last: who reads meanwhile, or another build into the
        # same folder, never meets half a suite.
        with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as beside:
            for name, text in texts.items():
                (Path(beside) / name).write_text(text, encoding="utf-8", newline="\n")
            for name in (PROBES_FILE, "report.json", "report.md", "suite.yaml"):
                shutil.move(Path(beside) / name, folder / name)
    except OSError as error:
        raise UsageError(f"The suite cannot be written to {folder}: {error}.") from None
    return [folder / name for name in texts]
