"""Compile and evaluate rules of definitions, as a script for an interpreter with CEL."""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from cel_expr_python import cel
from cel_types import Schema, TypePool, readable

SCALARS = {"boolean": cel.Type.BOOL, "integer": cel.Type.INT, "number": cel.Type.DOUBLE,
           "string": cel.Type.STRING}  # fmt: skip
VALUE_READ = re.compile(r"(?<!has\()\b(?:self|oldSelf)\.((?:\w+\.)*\w+)(?![\w.]*\()")
RECEIVER = re.compile(r"\b(?:self|oldSelf)\.((?:\w+\.)*\w+)\.\w+\(")
ITERATION = re.compile(r"\bself\.(\w+)\.(?:all|exists|exists_one|filter|map)\((\w+),")
BOUND_OF = {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}


def mistakes(schema: Schema, where: str = "spec", *, repeated: bool = False) -> list[str]:
    """Return why an API server would refuse the rules of a schema and its parts."""
    refusals = []
    for validation in schema.get("x-kubernetes-validations", ()):
        rule = validation["rule"]
        if repeated:
            refusals.append(f"{where}: {rule}: the list or map that repeats it has no bound")
        refusals += [f"{where}: {rule}: {why}" for why in rule_mistakes(schema, rule)]
    for name, part in schema.get("properties", {}).items():
        refusals += mistakes(part, f"{where}.{name}", repeated=repeated)
    for name, bound in (("items", "maxItems"), ("additionalProperties", "maxProperties")):
        if isinstance(schema.get(name), dict):
            unbounded = repeated or bound not in schema
            refusals += mistakes(schema[name], f"{where}[{name}]", repeated=unbounded)
    return refusals


def rule_mistakes(schema: Schema, rule: str) -> list[str]:
    """Return why a rule cannot be compiled, and which values it reads without a bound."""
    if not readable(schema):
        return ["a rule on a value without a type"]
    types = TypePool()
    own = SCALARS.get(schema["type"]) or cel.Type(types.add(schema))
    environment = cel.NewEnv(descriptor_pool=types.pool, variables={"self": own, "oldSelf": own})
    try:
        kind = environment.compile(rule).return_type()
    except RuntimeError as error:
        return [str(error)]
    if kind != cel.Type.BOOL:
        return [f"it is {kind.name()}, not true or false"]
    return [f"{path} has no {bound}" for path, bound in unbounded_reads(schema, rule)]


def unbounded_reads(schema: Schema, rule: str) -> Iterator[tuple[str, str]]:
    """Find the text, lists and maps of unknown size that a rule reads: their cost is refused."""
    for path in {*VALUE_READ.findall(rule), *RECEIVER.findall(rule)}:
        part = schema
        for name in path.split("."):
            part = part["properties"][name]
        yield from ((path, bound) for bound in missing_bounds(part))
    for field, variable in ITERATION.findall(rule):
        items = schema["properties"][field]["items"].get("properties", {})
        for name in set(re.findall(rf"(?<!has\()\b{variable}\.(\w+)", rule)):
            yield from ((f"{variable}.{name}", bound) for bound in missing_bounds(items[name]))


def missing_bounds(part: Schema) -> list[str]:
    """Return the bound that a part lacks: the cost of reading it is unknown."""
    bound = BOUND_OF.get(part.get("type", ""))
    known = bound is None or bound in part or "enum" in part or "properties" in part
    return [] if known else [str(bound)]


def broken(schema: Schema, new: Any, old: Any) -> list[str]:
    """Return the messages of the rules that a value breaks, its own and those of its parts."""
    refusals = []
    environment = cel.NewEnv(variables={"self": cel.Type.DYN, "oldSelf": cel.Type.DYN})
    for validation in schema.get("x-kubernetes-validations", ()):
        if "oldSelf" in validation["rule"] and old is None:
            continue  # a rule of changes says nothing of what is new
        rule = environment.compile(validation["rule"])
        if rule.eval(data={"self": new, "oldSelf": old}).value() is not True:
            refusals.append(validation["message"])
    for name, part in schema.get("properties", {}).items():
        if isinstance(new, dict) and name in new:
            refusals += broken(part, new[name], (old or {}).get(name))
    if isinstance(new, list):
        for item in new:  # items of a list have no old value
            refusals += broken(schema["items"], item, None)
    return refusals


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    answer = {
        "mistakes": [mistakes(schema) for schema in asked["schemas"]],
        "broken": [broken(*case) for case in asked["cases"]],
    }
    json.dump(answer, sys.stdout)
