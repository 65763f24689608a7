"""Suites from files: YAML or JSON, with the probes inside or in a JSONL beside it."""

import json
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from shared.contracts import Suite
from shared.errors import UsageError


def load_suite(path: Path) -> Suite:
    """Read a suite; a folder holds it as `suite.yaml`.

    Raises
    ------
    UsageError
        It cannot be read, or something in it is wrong; the file, the line or the probe, and the
        field are named.
    """
    file = path / "suite.yaml" if path.is_dir() else path
    fields = _fields(file)
    probes = fields.get("probes")
    if isinstance(probes, str):
        fields["probes"] = _lines(file.parent / probes)
    try:
        return Suite.model_validate(fields)
    except ValidationError as error:
        raise UsageError(_sentence(file, fields, error)) from None


def _fields(file: Path) -> dict[str, Any]:
    try:
        fields = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The suite {file} cannot be read: {error}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise UsageError(
            f"{file}{where}: this is not YAML ({getattr(error, 'problem', '')})."
        ) from None
    if not isinstance(fields, dict):
        raise UsageError(f"{file}: a suite is a mapping with name, extractors and probes.")
    return fields


def _lines(file: Path) -> list[Any]:
    probes = []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The probes {file} cannot be read: {error}.") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                probes.append(json.loads(line))
            except ValueError:
                raise UsageError(f"{file}, line {number}: this is not JSON.") from None
    return probes


def _sentence(file: Path, fields: dict[str, Any], error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    loc = list(first["loc"])
    where = ""
    if len(loc) > 1 and loc[0] == "probes" and isinstance(loc[1], int):
        probe = fields["probes"][loc[1]]
        key = probe.get("key") if isinstance(probe, dict) else None
        where = f", probe {loc[1] + 1}" + (f" ({key})" if key else "")
        loc = loc[2:]
    field = ".".join(str(part) for part in loc)
    return f"{file}{where}{', ' + field if field else ''}: {first['msg']}."
