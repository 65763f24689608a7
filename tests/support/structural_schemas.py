"""Structural schemas as an API server uses them: pruning, defaults and validation."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
API_SERVER = json.loads(Path(__file__).with_name("api_server_rules.json").read_text())
"""Rules by which API servers from 1.30 to 1.36 refuse definitions."""
ANYTHING = "x-kubernetes-preserve-unknown-fields"
LIST_TYPE, MAP_TYPE = "x-kubernetes-list-type", "x-kubernetes-map-type"
INT_OR_STRING = "x-kubernetes-int-or-string"
OBJECT_FIELDS = {"apiVersion", "kind", "metadata"}


def pruned(schema: Schema, value: Any, *, root: bool = True) -> Any:
    """Return a value without the fields that a schema does not name."""
    if schema.get(ANYTHING):
        return value
    if isinstance(value, dict):
        if "additionalProperties" in schema:
            rest = schema["additionalProperties"]
            return {key: pruned(rest, item, root=False) for key, item in value.items()}
        known = schema.get("properties", {})
        return {
            key: item if root and key in OBJECT_FIELDS else pruned(known[key], item, root=False)
            for key, item in value.items()
            if key in known
        }
    if isinstance(value, list):
        return [pruned(schema["items"], item, root=False) for item in value]
    return value


def with_defaults(schema: Schema, value: Any) -> Any:
    """Return a value with the defaults of fields that it does not have."""
    if isinstance(value, dict):
        known = schema.get("properties", {})
        filled = {
            key: with_defaults(known.get(key) or schema.get("additionalProperties") or {}, item)
            for key, item in value.items()
        }
        for key, own in known.items():
            if key not in filled and "default" in own:
                filled[key] = with_defaults(own, deepcopy(own["default"]))
        return filled
    if isinstance(value, list):
        return [with_defaults(schema.get("items", {}), item) for item in value]
    return value


def as_json_schema(schema: Schema) -> Schema:
    """Return a schema of OpenAPI v3.0 as JSON Schema."""
    converted = {
        key: item for key, item in schema.items()
        if not key.startswith("x-kubernetes") and key not in {"nullable", "default", "format"}
    }  # fmt: skip
    if schema.get(LIST_TYPE) == "set":
        converted["uniqueItems"] = True
    for bound in ("Minimum", "Maximum"):
        if converted.pop(f"exclusive{bound}", False):
            converted[f"exclusive{bound}"] = converted.pop(bound.lower())
    if "properties" in converted:
        properties = converted["properties"]
        converted["properties"] = {key: as_json_schema(properties[key]) for key in properties}
    for key in ("items", "additionalProperties"):
        if key in converted:
            converted[key] = as_json_schema(converted[key])
    return {"anyOf": [{"type": "null"}, converted]} if schema.get("nullable") else converted


def structural_mistakes(schema: Schema, where: str = "") -> list[str]:
    """Return the violated rules of structural schemas, which an API server refuses."""
    mistakes = [f"{where}: {mistake}" for mistake in _own_mistakes(schema)]
    for name, child in schema.get("properties", {}).items():
        mistakes += structural_mistakes(child, f"{where}.{name}")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            mistakes += structural_mistakes(schema[name], f"{where}[{name}]")
    return mistakes


def _own_mistakes(schema: Schema) -> list[str]:
    int_or_string = schema.get(INT_OR_STRING, False)
    union = [{"type": "integer"}, {"type": "string"}] if int_or_string else None
    bounds = [schema.get(f"exclusive{bound}", False) for bound in ("Minimum", "Maximum")]
    rules = {
        f"{sorted(FORBIDDEN & schema.keys())} are not allowed": not FORBIDDEN & schema.keys(),
        "there is no type": bool("type" in schema or int_or_string or schema.get(ANYTHING)),
        "int-or-string has no type": not ("type" in schema and int_or_string),
        "a union that is none of integer and text": schema.get("anyOf") == union,
        "additionalProperties beside properties": len(CHILDREN & schema.keys()) < len(CHILDREN),
        "additionalProperties must be a schema": not isinstance(
            schema.get("additionalProperties"), bool
        ),
        "a list without items": schema.get("type") != "array" or "items" in schema,
        "an exclusive bound is true or false": all(isinstance(bound, bool) for bound in bounds),
        "a default with null": not _holds_null(schema.get("default")),
        "the objects of a set are atomic": schema.get(LIST_TYPE) != "set"
        or schema["items"].get("type") != "object"
        or schema["items"].get(MAP_TYPE) == "atomic",
        "something required is not there": set(schema.get("required", ()))
        <= schema.get("properties", {}).keys(),
    }
    return [mistake for mistake, kept in rules.items() if not kept]


CHILDREN = {"properties", "additionalProperties"}
FORBIDDEN = set(API_SERVER["forbidden_keywords"])


def _holds_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(item is None or _holds_null(item) for item in value.values())
    return isinstance(value, list) and any(map(_holds_null, value))
