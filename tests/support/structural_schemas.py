"""What an API server does with structural schemas: prunes, fills defaults in, and validates."""

from copy import deepcopy
from typing import Any

Schema = dict[str, Any]
ANYTHING = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING = "x-kubernetes-int-or-string"
OF_OBJECTS = {"apiVersion", "kind", "metadata"}


def pruned(schema: Schema, value: Any, *, root: bool = True) -> Any:
    """Return a value without the fields that a schema does not name."""
    if schema.get(ANYTHING):
        return value
    if isinstance(value, dict):
        if "additionalProperties" in schema:
            rest = schema["additionalProperties"]
            return {key: pruned(rest, each, root=False) for key, each in value.items()}
        known = schema.get("properties", {})
        return {
            key: each if root and key in OF_OBJECTS else pruned(known[key], each, root=False)
            for key, each in value.items()
            if key in known
        }
    if isinstance(value, list):
        return [pruned(schema["items"], each, root=False) for each in value]
    return value


def with_defaults(schema: Schema, value: Any) -> Any:
    """Return a value with the defaults of fields that it does not have."""
    if isinstance(value, dict):
        known = schema.get("properties", {})
        made = {
            key: with_defaults(known.get(key) or schema.get("additionalProperties") or {}, each)
            for key, each in value.items()
        }
        for key, own in known.items():
            if key not in made and "default" in own:
                made[key] = with_defaults(own, deepcopy(own["default"]))
        return made
    if isinstance(value, list):
        return [with_defaults(schema.get("items", {}), each) for each in value]
    return value


def as_json_schema(schema: Schema) -> Schema:
    """Return a schema of OpenAPI v3.0 as JSON Schema, which jsonschema validates by."""
    made = {
        key: each for key, each in schema.items()
        if not key.startswith("x-kubernetes") and key not in {"nullable", "default", "format"}
    }  # fmt: skip
    for bound in ("Minimum", "Maximum"):
        if made.pop(f"exclusive{bound}", False):
            made[f"exclusive{bound}"] = made.pop(bound.lower())
    if "properties" in made:
        made["properties"] = {key: as_json_schema(each) for key, each in made["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in made:
            made[key] = as_json_schema(made[key])
    return {"anyOf": [{"type": "null"}, made]} if schema.get("nullable") else made


def structural_mistakes(schema: Schema, where: str = "") -> list[str]:
    """Return what an API server would refuse of a schema: the rules of structural schemas."""
    found = [f"{where}: {mistake}" for mistake in _own_mistakes(schema)]
    for name, child in schema.get("properties", {}).items():
        found += structural_mistakes(child, f"{where}.{name}")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            found += structural_mistakes(schema[name], f"{where}[{name}]")
    return found


def _own_mistakes(schema: Schema) -> list[str]:
    of_both = schema.get(INT_OR_STRING, False)
    union = [{"type": "integer"}, {"type": "string"}] if of_both else None
    bounds = [schema.get(f"exclusive{bound}", False) for bound in ("Minimum", "Maximum")]
    rules = {
        f"{sorted(FORBIDDEN & schema.keys())} are not allowed": not FORBIDDEN & schema.keys(),
        "there is no type": bool("type" in schema or of_both or schema.get(ANYTHING)),
        "int-or-string has no type": not ("type" in schema and of_both),
        "a union that is none of integer and text": schema.get("anyOf") == union,
        "additionalProperties beside properties": len(CHILDREN & schema.keys()) < len(CHILDREN),
        "additionalProperties must be a schema": not isinstance(
            schema.get("additionalProperties"), bool
        ),
        "a list without items": schema.get("type") != "array" or "items" in schema,
        "an exclusive bound is true or false": all(isinstance(each, bool) for each in bounds),
        "a default with null": not _holds_null(schema.get("default")),
        "something required is not there": set(schema.get("required", ()))
        <= schema.get("properties", {}).keys(),
    }
    return [mistake for mistake, kept in rules.items() if not kept]


CHILDREN = {"properties", "additionalProperties"}
FORBIDDEN = {
    "$ref", "$defs", "definitions", "oneOf", "allOf", "not", "const", "prefixItems", "title",
    "patternProperties", "uniqueItems", "deprecated", "readOnly", "writeOnly", "id", "$schema",
    "dependencies", "discriminator", "xml", "examples", "if", "then", "else",
}  # fmt: skip


def _holds_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(each is None or _holds_null(each) for each in value.values())
    return isinstance(value, list) and any(map(_holds_null, value))
