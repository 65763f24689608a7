"""A suite as a folder: a header, and its probes a line each."""

import json
from pathlib import Path

import yaml

from shared.contracts import Suite
from shared.errors import UsageError

PROBES = "probes.jsonl"


def write_suite(suite: Suite, folder: Path) -> None:
    """Write a suite so that `biaswatch run FOLDER` reads the same suite again.

    Raises
    ------
    UsageError
        The folder cannot be written.
    """
    header = suite.model_dump(mode="json", exclude_defaults=True, exclude={"probes"})
    header["probes"] = PROBES
    lines = (
        json.dumps(probe.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False) + "\n"
        for probe in suite.probes
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / PROBES).open("w", encoding="utf-8") as out:
            out.writelines(lines)
        text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=100)
        (folder / "suite.yaml").write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The suite {folder} cannot be written ({error.strerror}).") from None
