"""Suites from files: YAML or JSON, with the probes inside or in a file of their own beside it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from biaswatch.readers.probes import read_probes
from services.builder.domain.suite_files import version_of
from shared.contracts import Suite
from shared.contracts.mistakes import first_mistake
from shared.errors import UsageError
from shared.runtime import yaml_text


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
        found = read_probes(file.parent / probes)
        _unedited(file, fields, found)
        fields["probes"] = found
    try:
        return Suite.model_validate(fields)
    except ValidationError as error:
        raise UsageError(_sentence(file, fields, error)) from None


def _fields(file: Path) -> dict[str, Any]:
    try:
        fields = yaml_text.parse_yaml(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The suite {file} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise UsageError(f"The suite {file} cannot be read: it is no text in UTF-8.") from None
    except yaml.YAMLError as error:
        line = yaml_text.yaml_line(error)
        where = f", line {line}" if line else ""
        raise UsageError(
            f"{file}{where}: this is not YAML ({yaml_text.yaml_problem(error)})."
        ) from None
    if not isinstance(fields, dict):
        raise UsageError(f"{file}: a suite is a mapping with name, extractors and probes.")
    return fields


def _unedited(file: Path, fields: Mapping[str, Any], probes: Sequence[Any]) -> None:
    """Hold a built suite to its version: what was edited is another suite, and has to say so."""
    version = fields.get("version")
    if version is None or not all(isinstance(probe, dict) for probe in probes):
        return
    if version != version_of(fields, probes):
        raise UsageError(
            f"{file}: the suite is not what it was when its version {version} was given. Build it"
            " again; or, if it was edited on purpose, remove the line `version`."
        )


def _sentence(file: Path, fields: dict[str, Any], error: ValidationError) -> str:
    mistake = first_mistake(error)
    loc, where = mistake.loc, ""
    if len(loc) > 1 and loc[0] == "probes" and isinstance(loc[1], int):
        probe = fields["probes"][loc[1]]
        key = probe.get("key") if isinstance(probe, dict) else None
        where = f", probe {loc[1] + 1}" + (f" ({key})" if key else "")
        loc = loc[2:]
    field = ".".join(str(part) for part in loc)
    return f"{file}{where}{', ' + field if field else ''}: {mistake.said}."
