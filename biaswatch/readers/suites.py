"""Suites from files: YAML or JSON, with the probes inside or in a file of their own beside it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from biaswatch.readers.probes import read_probes
from services.builder.domain.suite_files import version_of
from shared.contracts import Suite
from shared.contracts.mistakes import first_mistake
from shared.errors import UsageError
from shared.files import read_text, yaml_mapping


def load_suite(path: Path) -> Suite:
    """Read a suite; a folder holds it as `suite.yaml`.

    Raises
    ------
    UsageError
        It cannot be read, or something in it is wrong; the file, the line or the probe, and the
        field are named.
    """
    file = path / "suite.yaml" if path.is_dir() else path
    expected = "a suite is a mapping with name, extractors and probes"
    fields = yaml_mapping(read_text(file, "suite"), file, expected)
    probes = fields.get("probes")
    if isinstance(probes, str):
        found = read_probes(file.parent / probes)
        _unedited(file, fields, found)
        fields["probes"] = found
    try:
        return Suite.model_validate(fields)
    except ValidationError as error:
        raise UsageError(_sentence(file, fields, error)) from None


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
