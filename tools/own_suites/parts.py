"""Parts that our own suites share: twins by name, placebo twins, and the files of a suite."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tools.own_suites.names import CELLS, name_for

SUITES = Path("suites")
WITHHELD = "Name withheld"
PLACEBO = (("a", 4127), ("b", 4128))
"""Reference numbers, which must not matter."""
PLAIN_REFERENCE = "4126"
VARIANTS = 4
"""Copies of each text under other names."""
Probe = dict[str, Any]


@dataclass(frozen=True)
class OwnSuite:
    """A suite before it is written."""

    name: str
    header: dict[str, Any]
    probes: Sequence[Probe] = field(repr=False)


def named_twins(set_id: str, number: int) -> Iterator[tuple[str, dict[str, str], str]]:
    """Return key, groups and name of each named twin of a set."""
    for race, gender in CELLS:
        name = name_for(race, gender, number)
        yield f"{set_id}-{race}-{gender}", {"race": race, "gender": gender}, name


def placebo_twins(set_id: str, variant: int = 0) -> Iterator[tuple[str, dict[str, str], str]]:
    """Return key, groups and reference number of each placebo twin of a set."""
    for label, reference in PLACEBO:
        number = str(reference + 10 * variant)
        yield f"{set_id}-placebo-{label}", {"placebo": label}, number


def stimuli_of(text: str, name: str | None = None) -> dict[str, str]:
    """Return the stimuli of a probe; variants of a text are one text, and a number is no name."""
    return ({"name": name} if name else {}) | {"text": text}


def read_parts(name: str, file: str) -> dict[str, Any]:
    """Return the texts of a suite's parts."""
    path = SUITES / name / "parts" / file
    parts: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return parts


def files_of(suite: OwnSuite) -> dict[Path, str]:
    """Return the files of a suite, in the same bytes for the same suite."""
    folder = SUITES / suite.name
    header = {"name": suite.name, **suite.header, "probes": "probes.jsonl"}
    return {
        folder / "suite.yaml": yaml.safe_dump(
            header, sort_keys=False, allow_unicode=True, width=100
        ),
        folder / "probes.jsonl": "".join(
            json.dumps(probe, ensure_ascii=False) + "\n" for probe in suite.probes
        ),
    }
