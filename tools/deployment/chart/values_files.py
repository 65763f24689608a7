"""The files that say what may be chosen: the values with comments, and their JSON Schema."""

from typing import Any

from pydantic.alias_generators import to_camel

from tools.deployment.chart.templating import yaml_of
from tools.deployment.chart.values import ChartValues, Choices
from tools.deployment.services import bus_services


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the values; the services there are, and no others."""
    made = ChartValues.model_json_schema(by_alias=True)
    own = {"$ref": "#/$defs/ServiceChoices"}
    services = {"type": "object", "additionalProperties": False}
    services["properties"] = dict.fromkeys(bus_services(), own)
    made["properties"]["services"] = services
    # Helm hands `global` to every chart.
    made["properties"]["global"] = {"type": "object"}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_without_titles(made)}


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, dict):
        kept = {
            key: value for key, value in schema.items()
            if not (key == "title" and isinstance(value, str)) and key != "default"
        }  # fmt: skip
        return {key: _without_titles(value) for key, value in kept.items()}
    if isinstance(schema, list):
        return [_without_titles(each) for each in schema]
    return schema


def values_text(values: ChartValues) -> str:
    """Return the defaults as a file, with what each group and field means as comments."""
    lines: list[str] = []
    for name, field in ChartValues.model_fields.items():
        value = getattr(values, name)
        about = field.description or (
            (type(value).__doc__ or "").strip() if isinstance(value, Choices) else ""
        )
        lines += [""] if lines else []
        lines += [f"# {about}"] if about else []
        lines += _entry(to_camel(name), value, 0)
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Any, indent: int) -> list[str]:
    pad = "  " * indent
    if isinstance(value, Choices):
        inner = [f"{pad}{key}:"]
        for name, field in type(value).model_fields.items():
            if field.description:
                inner.append(f"{pad}  # {field.description}")
            inner += _entry(to_camel(name), getattr(value, name), indent + 1)
        return inner
    if isinstance(value, dict) and any(isinstance(each, Choices) for each in value.values()):
        return [
            f"{pad}{key}:",
            *(line for k, v in value.items() for line in _entry(k, v, indent + 1)),
        ]
    return [pad + line for line in yaml_of({key: value}).splitlines()]
