"""Loads dimensions and profiles; errors name the file and field."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TypeVar

from biaswatch.services.evaluator.domain.rubric import (
    FILLED,
    INPUTS,
    KNOWN_WORDS,
    Dimension,
    Profile,
)
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.files import checked, read_text, yaml_mapping

SHIPPED = Path(__file__).parent.parent
F = TypeVar("F", Dimension, Profile)


@dataclass(frozen=True)
class Rubric:
    """The dimensions and the profiles."""

    dimensions: tuple[Dimension, ...]
    profiles: Mapping[str, Profile]


def load_rubric(rubric: Path | None = None, profiles: Path | None = None) -> Rubric:
    """Load shipped and own files; raise ConfigurationError for an invalid one."""
    dimensions = _read(SHIPPED / "dimensions", Dimension) | _read(rubric, Dimension)
    for dimension in dimensions.values():
        _check(dimension)
    all_profiles = _read(SHIPPED / "profiles", Profile) | _read(profiles, Profile)
    return Rubric(tuple(dimensions[name] for name in sorted(dimensions)), all_profiles)


def _read(folder: Path | None, kind: type[F]) -> dict[str, F]:
    if folder is None:
        return {}
    if not folder.is_dir():
        raise ConfigurationError(
            f"The folder {folder} with {kind.__name__.lower()}s does not exist."
        )
    return {path.stem: _file(path, kind) for path in sorted(folder.glob("*.yaml"))}


def _file(path: Path, kind: type[F]) -> F:
    text = read_text(path, kind.__name__.lower(), ConfigurationError)
    expected = f"a {kind.__name__.lower()} is a mapping of its fields"
    fields = yaml_mapping(text, path, expected, ConfigurationError)
    record = checked(kind, fields, path, ConfigurationError)
    try:
        if isinstance(record, Profile):
            _ = record.flags
    except re.error as error:
        raise ConfigurationError(
            f"{path} has a red flag that is not a regular expression: {error}."
        ) from None
    if record.name != path.stem:
        raise ConfigurationError(f"{path} names itself {record.name!r}; name and file must agree.")
    return record


def _check(dimension: Dimension) -> None:
    """Refuse a dimension with unknown placeholders or inputs."""
    texts = (dimension.asks, *dimension.criteria, *dimension.anchors.values())
    known = (*dimension.known.good, *dimension.known.bad) if dimension.known else ()
    unknown = _placeholders(texts) - FILLED | _placeholders(known) - FILLED - KNOWN_WORDS
    if strange := sorted(unknown | (set(dimension.inputs) - INPUTS)):
        raise ConfigurationError(
            f"The dimension {dimension.name} speaks of {strange[0]!r}, which is not known."
            f" Known are ${', $'.join(sorted(FILLED))}; inputs are {', '.join(sorted(INPUTS))}."
        )
    if bad := [t for t in (*texts, *known) if not Template(t).is_valid()]:
        raise ConfigurationError(
            f"The dimension {dimension.name} has a $ without a name, in {bad[0][:40]!r}."
            " Write $$ for a dollar sign."
        )


def _placeholders(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in Template(text).get_identifiers()}
