"""JSON Schemas of pydantic as the structural OpenAPI v3 schemas that an API server accepts."""

from copy import deepcopy
from typing import Any

Schema = dict[str, Any]
KEPT = (
    "type", "format", "description", "enum", "pattern", "minimum", "maximum", "minLength",
    "maxLength", "minItems", "maxItems",
)  # fmt: skip
LEAST_WRITTEN = 1e-4
"""Smaller numbers are written as 1e-12, which readers of YAML 1.1 take for text."""
INT_OR_STRING: Schema = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
}
ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}


def structural(schema: Schema, *, defaults: bool = True) -> Schema:
    """Return a schema without references, unions and words that OpenAPI v3 does not have.

    Raises
    ------
    ValueError
        It has a union that a structural schema cannot say.
    """
    return _written(schema, schema.get("$defs", {}), defaults=defaults)


def _written(part: Schema, known: dict[str, Schema], *, defaults: bool) -> Schema:
    part = _resolved(part, known)
    if "anyOf" in part:
        made = _union(part, known, defaults=defaults)
    elif "type" not in part and "enum" not in part:
        made = {**ANYTHING, **_described(part)}
    else:
        made = {key: part[key] for key in KEPT if key in part}
        made |= _bounds(part) | _children(part, known, defaults=defaults)
    if defaults and part.get("default") is not None:
        made["default"] = _without_nulls(part["default"])
    return made


def _without_nulls(value: Any) -> Any:
    """Return a default as the API server takes it: a field without a value is left out."""
    if not isinstance(value, dict):
        return deepcopy(value)
    return {key: _without_nulls(value[key]) for key in value if value[key] is not None}


def _resolved(part: Schema, known: dict[str, Schema]) -> Schema:
    """Return a part with what it refers to in its place; its own words count."""
    if "$ref" not in part:
        return part
    there = known[part["$ref"].rpartition("/")[2]]
    return {**_resolved(there, known), **{key: part[key] for key in part if key != "$ref"}}


def _union(part: Schema, known: dict[str, Schema], *, defaults: bool) -> Schema:
    """Return a value or null as one that may be null, and a number or text as just that."""
    options = [_resolved(each, known) for each in part["anyOf"]]
    real = [each for each in options if each.get("type") != "null"]
    kinds = {each.get("type") for each in real}
    nullable = {"nullable": True} if len(real) < len(options) else {}
    if len(real) == 1:
        return _written(real[0], known, defaults=defaults) | nullable | _described(part)
    if kinds <= {"integer", "number", "string"} and "string" in kinds:
        # Durations: whole seconds, or text like 6h; a pattern looks at text alone.
        [text] = [each for each in real if each["type"] == "string"]
        bounds = {key: text[key] for key in ("pattern",) if key in text}
        return deepcopy(INT_OR_STRING) | bounds | nullable | _described(part)
    raise ValueError(f"No structural schema says this union: {sorted(map(str, kinds))}")


def _bounds(part: Schema) -> Schema:
    """Return exclusive bounds as OpenAPI v3.0 writes them: a bound, and that it is exclusive."""
    made: Schema = {}
    for bound in ("Minimum", "Maximum"):
        if f"exclusive{bound}" in part:
            made |= {bound.lower(): part[f"exclusive{bound}"], f"exclusive{bound}": True}
    if 0 < part.get("minimum", 0) < LEAST_WRITTEN:
        made |= {"minimum": 0, "exclusiveMinimum": True}  # the gateway knows the very bound
    if "const" in part:
        made["enum"] = [part["const"]]
    return made


def _children(part: Schema, known: dict[str, Schema], *, defaults: bool) -> Schema:
    def written(child: Schema) -> Schema:
        return _written(child, known, defaults=defaults)

    if part.get("type") == "array":
        items = part.get("items") or _alike(part["prefixItems"])
        return {"items": written(items)}
    if part.get("type") != "object":
        return {}
    if properties := part.get("properties"):
        made: Schema = {"properties": {name: written(properties[name]) for name in properties}}
        return made | ({"required": part["required"]} if part.get("required") else {})
    values = part.get("additionalProperties")
    # Rules of CEL cannot read a map of values without a type, but they can read an object.
    if isinstance(values, dict) and (value := written(values)) != ANYTHING:
        return {"additionalProperties": value}
    return dict(ANYTHING)


def _alike(items: list[Schema]) -> Schema:
    """Return what the entries of a tuple have in common, which must be everything."""
    first, *others = items
    if any(each != first for each in others):
        raise ValueError("No structural schema says a list of entries that differ.")
    return first


def _described(part: Schema) -> Schema:
    return {key: part[key] for key in ("description",) if key in part}
