"""JSON Schemas of pydantic as the structural OpenAPI v3 schemas of Kubernetes' API server."""

from copy import deepcopy
from typing import Any

Schema = dict[str, Any]
KEYWORDS = (
    "type", "format", "description", "enum", "pattern", "minimum", "maximum", "minLength",
    "maxLength", "minItems", "maxItems",
)  # fmt: skip
"""Keywords with the same meaning in both."""
MIN_WRITTEN = 1e-4
"""YAML writes smaller numbers as 1e-12, which readers of YAML 1.1 take for text."""
INT_OR_STRING: Schema = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
}
ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}


def structural(schema: Schema, *, defaults: bool = True) -> Schema:
    """Return a schema without references, unions and keywords that OpenAPI v3 lacks.

    Raises
    ------
    ValueError
        It has a union or a tuple that a structural schema cannot express.
    """
    return _converted(schema, schema.get("$defs", {}), defaults=defaults)


def _converted(part: Schema, definitions: dict[str, Schema], *, defaults: bool) -> Schema:
    part = _resolved(part, definitions)
    if "anyOf" in part:
        schema = _union(part, definitions, defaults=defaults)
    elif "type" not in part and "enum" not in part:
        schema = ANYTHING | _description(part)
    else:
        schema = {key: part[key] for key in KEYWORDS if key in part}
        schema |= _bounds(part) | _children(part, definitions, defaults=defaults)
    if defaults and part.get("default") is not None:
        schema["default"] = _without_nulls(part["default"])
    return schema


def _without_nulls(value: Any) -> Any:
    """Return a default without null fields, which the API server refuses."""
    if not isinstance(value, dict):
        return deepcopy(value)
    return {key: _without_nulls(value[key]) for key in value if value[key] is not None}


def _resolved(part: Schema, definitions: dict[str, Schema]) -> Schema:
    """Return a part with its reference replaced; its own keywords take precedence."""
    if "$ref" not in part:
        return part
    target = definitions[part["$ref"].rpartition("/")[2]]
    return _resolved(target, definitions) | {key: part[key] for key in part if key != "$ref"}


def _union(part: Schema, definitions: dict[str, Schema], *, defaults: bool) -> Schema:
    """Return a nullable value for "value or null", and int-or-string for a number or text."""
    options = [_resolved(option, definitions) for option in part["anyOf"]]
    values = [option for option in options if option.get("type") != "null"]
    kinds = {option.get("type") for option in values}
    nullable = {"nullable": True} if len(values) < len(options) else {}
    if len(values) == 1:
        schema = _converted(values[0], definitions, defaults=defaults)
    elif kinds <= {"integer", "number", "string"} and "string" in kinds:
        # Durations: whole seconds, or text like 6h; a pattern applies to text alone.
        [text] = [option for option in values if option["type"] == "string"]
        pattern = {"pattern": text["pattern"]} if "pattern" in text else {}
        positive = any(option.get("exclusiveMinimum") == 0 for option in values)
        schema = deepcopy(INT_OR_STRING) | pattern | ({"minimum": 1} if positive else {})
    else:
        raise ValueError(f"No structural schema expresses this union: {sorted(map(str, kinds))}")
    return schema | nullable | _description(part)


def _bounds(part: Schema) -> Schema:
    """Return exclusive bounds as OpenAPI v3.0 writes them: a bound and a flag."""
    bounds: Schema = {}
    for bound in ("Minimum", "Maximum"):
        if f"exclusive{bound}" in part:
            bounds |= {bound.lower(): part[f"exclusive{bound}"], f"exclusive{bound}": True}
    if 0 < part.get("minimum", 0) < MIN_WRITTEN:
        bounds |= {"minimum": 0, "exclusiveMinimum": True}  # the gateway checks the exact bound
    if "const" in part:
        bounds["enum"] = [part["const"]]
    return bounds


def _children(part: Schema, definitions: dict[str, Schema], *, defaults: bool) -> Schema:
    def converted(child: Schema) -> Schema:
        return _converted(child, definitions, defaults=defaults)

    if part.get("type") == "array":
        return {"items": converted(part.get("items") or _common_item(part["prefixItems"]))}
    if part.get("type") != "object":
        return {}
    if properties := part.get("properties"):
        required = {"required": part["required"]} if part.get("required") else {}
        return {
            "properties": {name: converted(properties[name]) for name in properties},
            **required,
        }
    values = part.get("additionalProperties")
    # Rules of CEL cannot read a map of untyped values, but they can read an object.
    if isinstance(values, dict) and (value := converted(values)) != ANYTHING:
        return {"additionalProperties": value}
    return dict(ANYTHING)


def _common_item(items: list[Schema]) -> Schema:
    """Return the schema of a tuple's entries, which must be equal."""
    if any(item != items[0] for item in items):
        raise ValueError("No structural schema expresses a tuple of different entries.")
    return items[0]


def _description(part: Schema) -> Schema:
    return {"description": part["description"]} if "description" in part else {}
