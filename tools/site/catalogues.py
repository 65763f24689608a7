"""Pages of the reference about files, suites, formats of answers, limits and the simulator."""

import importlib
from pathlib import Path
from typing import Any

import yaml

from biaswatch.building.plan import Plan
from biaswatch.published.datasets import DATASETS, LEFT_OUT
from biaswatch.render.column_meanings import MEANINGS
from biaswatch.services.simulator.domain.planted_bias import PlantedModel
from biaswatch.shared.contracts.search import Space
from biaswatch.shared.conventions.rows import FORMATS, GENERIC
from biaswatch.shared.conventions.spans import CONVENTIONS
from tools.schemas import monitor_schema, suite_schema
from tools.site.limits import LIMITS
from tools.site.tables import first_line, table

SUITES = Path(__file__).parents[2] / "suites"


def files() -> str:
    """Return the fields of the files that users write."""
    documents = {
        "A monitor": monitor_schema(),
        "A suite": suite_schema(),
        "A plan of the builder": Plan.model_json_schema(),
        "The space of a search": Space.model_json_schema(),
    }
    return _schemas("Files", "A misspelt field is refused, with file and line.", documents)


def simulator() -> str:
    """Return the fields of simulated models."""
    documents = {"A simulated model": PlantedModel.model_json_schema()}
    return _schemas("The simulator", "[How to use it](../simulator.md).", documents)


def _schemas(title: str, head: str, documents: dict[str, dict[str, Any]]) -> str:
    lines = [f"# {title}", "", head]
    for name, schema in documents.items():
        lines += ["", f"## {name}", *_fields(schema)]
        for part, definition in schema.get("$defs", {}).items():
            if definition.get("properties"):
                lines += ["", f"### {part}", "", first_line(definition.get("description"))]
                lines += _fields(definition)
    return "\n".join(lines) + "\n"


def _fields(schema: dict[str, Any]) -> list[str]:
    rows = (
        (f"`{name}`", field.get("description", ""), _shown(field.get("default")))
        for name, field in schema.get("properties", {}).items()
    )
    return ["", *table(("field", "what it is", "default"), rows)] if "properties" in schema else []


def _shown(default: object) -> str:
    return "" if default in (None, "", [], {}) else f"`{default}`"


def suites() -> str:
    """Return our suites and the published benchmarks."""
    own = [yaml.safe_load(path.read_text()) for path in sorted(SUITES.glob("*/suite.yaml"))]
    ours = table(
        ("suite", "about", "measured"),
        ((f"`{item['name']}`", item["about"], ", ".join(item["features"])) for item in own),
    )
    published = table(
        ("benchmark", "licence", "citation, and meaning of the score", "known against it"),
        (
            (f"`{name}`", data.licence, f"{data.citation}. {data.meaning}", " ".join(data.problems))
            for name, data in DATASETS.items()
        ),
    )
    lines = ["# Suites", "", "[How to use them](../own-suites.md).", "", *ours]
    lines += ["", "## Published benchmarks", ""]
    lines += ["[How to use them](../published-benchmarks.md).", "", *published]
    lines += ["", "Not included:", ""]
    lines += [f"- `{name}`: {reason}." for name, reason in LEFT_OUT.items()]
    return "\n".join(lines) + "\n"


def formats() -> str:
    """Return the formats of recorded answers, and the conventions of traces."""
    usual = (
        (
            f"`{name}`",
            _module_line(form.content),
            *map(_names, (form.usual.id, form.usual.time, form.usual.unit)),
        )
        for name, form in FORMATS.items()
    )
    spans = ((f"`{name}`", _module_line(read)) for name, read in CONVENTIONS.items())
    lines = ["# Formats of recorded answers", "", "[How to import them](../importing.md).", ""]
    lines += table(("format", "what it is", "id", "time", "unit"), usual)
    lines += ["", "`otlp` is a request of OTLP in JSON; its spans have these conventions:", ""]
    return "\n".join([*lines, *table(("convention", "what it is"), spans)]) + "\n"


def columns() -> str:
    """Return the columns of the files that hold a diagnosis."""
    lines = ["# Columns of a diagnosis", "", "`biaswatch diagnose TABLE -o gaps.csv` writes them."]
    for part, meanings in MEANINGS.items():
        rows = ((_names(tuple(names.split(", "))), meaning) for names, meaning in meanings.items())
        lines += ["", f"## {part}", "", *table(("columns", "meaning"), rows)]
    return "\n".join(lines) + "\n"


def _module_line(function: Any) -> str:
    if function is GENERIC.content:
        return "Objects, or columns, with fields of any name."
    return first_line(importlib.import_module(function.__module__).__doc__)


def _names(fields: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in fields)


def limits() -> str:
    """Return the limits that no setting, or only one of the gateway, changes."""
    head = (
        "Input beyond a limit is refused with a message, or the outcome is recorded; nothing is"
        " truncated silently. [Settings](settings.md) has the limits of time and number that a"
        " setting changes."
    )
    lines = table(("what", "limit", "setting, or note"), LIMITS)
    return "\n".join(["# Limits", "", head, "", *lines]) + "\n"
