"""Compile and evaluate rules of definitions, as a script for an interpreter with CEL."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cel_expr_python import cel
from cel_types import Schema, TypePool, readable

SCALARS = {"boolean": cel.Type.BOOL, "integer": cel.Type.INT, "number": cel.Type.DOUBLE,
           "string": cel.Type.STRING}  # fmt: skip
VALUE_READ = re.compile(r"(?<!has\()\b(?:self|oldSelf)\.((?:\w+\.)*\w+)(?![\w.]*\()")
RECEIVER = re.compile(r"\b(?:self|oldSelf)\.((?:\w+\.)*\w+)\.\w+\(")
READ = re.compile(r"\b(?:self|oldSelf|[a-z](?=\.))((?:\.\w+(?!\w*\())*)")
"""The path of a value that a rule reads; a variable of a loop is one letter."""
NOT_READ = re.compile(
    r"has\([^)]*\)|\b(?:self|oldSelf)\.\w+(?=\.(?:all|exists|exists_one|filter|map)\()|'[^']*'"
)
"""Tests of presence, the lists of loops, and literal text."""
TEXT_PER_COST = 10
"""Characters that are compared for a cost of 1."""
ITERATION = re.compile(r"\bself\.(\w+)\.(?:all|exists|exists_one|filter|map)\((\w+),")
CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
TEXT = re.compile(r"'[^']*'")
TOKEN = re.compile(r"\w+|[^\w\s]")
RULES = json.loads(Path(__file__).with_name("api_server_rules.json").read_text())
"""Rules of the versions of Kubernetes that are served."""
BOUND_OF = {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}


def mistakes(schema: Schema, where: str = "spec", *, repeated: bool = False) -> list[str]:
    """Return why an API server would refuse the rules of a schema and its parts."""
    refusals = []
    for validation in schema.get("x-kubernetes-validations", ()):
        rule = validation["rule"]
        refusals += [f"{where}: {rule}: {why}" for why in too_new(validation)]
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


def too_new(validation: dict[str, str]) -> Iterator[str]:
    """Find fields and functions that the oldest version of Kubernetes does not know."""
    known = RULES["fields_of_validations"], RULES["functions"]
    called = set(CALL.findall(TEXT.sub("''", validation["rule"])))
    for names, since in zip((validation.keys(), called), known, strict=True):
        for name in names:
            if name not in since or minor(since[name]) > minor(RULES["oldest"]):
                yield f"{name} is newer than Kubernetes {RULES['oldest']}, or unknown"


def minor(version: str) -> int:
    """Return the second part of a version."""
    return int(version.split(".")[1])


def costs(schema: Schema, times: int = 1) -> Iterator[int]:
    """Yield an upper bound of the cost of each rule of a schema and its parts."""
    for validation in schema.get("x-kubernetes-validations", ()):
        yield times * cost(schema, validation["rule"])
    for part in schema.get("properties", {}).values():
        yield from costs(part, times)
    for name, bound in (("items", "maxItems"), ("additionalProperties", "maxProperties")):
        if isinstance(schema.get(name), dict):
            most = schema.get(bound, RULES["max_request_bytes"])
            yield from costs(schema[name], times * most)


def cost(schema: Schema, rule: str) -> int:
    """Return an upper bound of the cost of a rule: tokens and text, for all rounds of its loops."""
    rounds = 1
    for field, _ in ITERATION.findall(rule):
        rounds *= schema["properties"][field].get("maxItems", RULES["max_request_bytes"])
    characters = sum(longest_text(schema, path) for path in READ.findall(NOT_READ.sub("", rule)))
    return rounds * len(TOKEN.findall(rule)) + rounds * characters // TEXT_PER_COST


def longest_text(schema: Schema, path: str) -> int:
    """Return the largest number of characters of the value that a rule reads, in a loop or not."""
    parts = [schema]
    for name in filter(None, path.split(".")):
        result = [part["properties"][name] for part in parts if name in part.get("properties", {})]
        if not result:  # a variable of a loop: any field of this name of an item
            lists = [part.get("items", {}) for part in schema.get("properties", {}).values()]
            result = [
                item["properties"][name] for item in lists if name in item.get("properties", {})
            ]
        parts = result
    return max((size(part) for part in parts), default=0)


def size(part: Schema) -> int:
    """Return the largest number of characters of a value."""
    if part.get("type") in {"boolean", "integer", "number"}:
        return 0
    if "enum" in part:
        return max(len(str(value)) for value in part["enum"])
    return int(part.get("maxLength", RULES["max_request_bytes"]))


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
        "costs": [list(costs(schema)) for schema in asked["schemas"]],
        "broken": [broken(*case) for case in asked["cases"]],
    }
    json.dump(answer, sys.stdout)
