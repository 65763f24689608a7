"""What all suites of our own share: twins by name, placebo twins, and how a suite is written."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tools.own_suites.names import CELLS, name_for

SUITES = Path("suites")
WITHHELD = "Name withheld"
PLACEBO = (("a", 4127), ("b", 4128))
"""Reference numbers: the twins that have them differ in nothing that could matter."""
PLAIN_REFERENCE = "4126"
VARIANTS = 4
"""How often each text stands there under other names."""
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


def read_parts(name: str, file: str) -> dict[str, Any]:
    """Return the words a suite is made of."""
    path = SUITES / name / "parts" / file
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def write(suite: OwnSuite) -> None:
    """Write header and probes, in the same bytes for the same suite."""
    folder = SUITES / suite.name
    folder.mkdir(parents=True, exist_ok=True)
    header = {"name": suite.name, **suite.header, "probes": "probes.jsonl"}
    text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=100)
    (folder / "suite.yaml").write_text(text, encoding="utf-8")
    (folder / "probes.jsonl").write_text(lines(suite.probes), encoding="utf-8")


def lines(probes: Iterable[Probe]) -> str:
    """Return probes as JSON Lines."""
    return "".join(json.dumps(probe, ensure_ascii=False) + "\n" for probe in probes)
