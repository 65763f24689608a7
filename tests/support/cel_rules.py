"""Evaluate rules of definitions, as a script for an interpreter with a library of CEL."""

import json
import sys
from typing import Any

import celpy
from celpy.adapter import json_to_cel


def broken(schema: dict[str, Any], new: Any, old: Any) -> list[str]:
    """Return the messages of the rules that a value breaks, its own and those of its parts."""
    found = []
    for each in schema.get("x-kubernetes-validations", ()):
        if "oldSelf" in each["rule"] and old is None:
            continue  # a rule of changes says nothing of what is new
        environment = celpy.Environment()
        program = environment.program(environment.compile(each["rule"]))
        given = {"self": json_to_cel(new)} | ({} if old is None else {"oldSelf": json_to_cel(old)})
        if not program.evaluate(given):
            found.append(each["message"])
    for name, child in schema.get("properties", {}).items():
        if isinstance(new, dict) and name in new:
            found += broken(child, new[name], (old or {}).get(name))
    return found


if __name__ == "__main__":
    json.dump([broken(*each) for each in json.load(sys.stdin)], sys.stdout)
