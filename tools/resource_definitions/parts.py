"""Schemas and columns that several resources have."""

from biaswatch.shared.contracts import Verdict
from biaswatch.shared.contracts.providers import PROVIDERS
from tools.structural_schema import Schema

NAME = {
    "type": "string",
    "maxLength": 253,
    "description": "The name of a BiasSuite in the same namespace.",
}
HASH = {
    "type": "string",
    "pattern": "^[0-9a-f]{32}$",
    "description": "The hash of a suite that was uploaded.",
}
SUITE = {
    "type": "object",
    "description": "The suite: a BiasSuite of the same namespace, or the hash of one uploaded.",
    "properties": {"name": NAME, "hash": HASH},
    "x-kubernetes-validations": [
        {"rule": "has(self.name) != has(self.hash)", "message": "name the suite by name or by hash"}
    ],
}
MAX_TARGET_CHARACTERS = 2048
"""The cost of rules depends on this limit."""
TEXT = {"type": "string"}
MOMENT = {"type": "string", "format": "date-time"}
NUMBER = {"type": "integer"}
VERDICT = {"type": "string", "enum": [verdict.value for verdict in Verdict]}
QUESTIONS = {"sameTreatment": TEXT, "groupEffect": TEXT, "about": TEXT}
"""Answers about twins and the group, with their p-values, and what the verdict is about."""
RUN_VERDICT = {"type": "string", "enum": [*VERDICT["enum"], "not_measured"]}


def target_schema(*more_providers: str) -> Schema:
    """Return a target: a known provider, and no user or password in its address."""
    providers = "|".join([*PROVIDERS, *more_providers])
    return {
        "type": "string",
        "maxLength": MAX_TARGET_CHARACTERS,
        "pattern": f"^({providers}):.",
        "x-kubernetes-validations": [
            {
                "rule": "!self.matches('://[^/?#]*@')",
                "message": "an address must hold no user or password; set the key instead",
            }
        ],
    }


def column(name: str, path: str, *, kind: str = "string", wide: bool = False) -> Schema:
    """Return a column of `kubectl get`; wide ones are shown with `-o wide`."""
    printed: Schema = {"name": name, "type": kind, "jsonPath": path}
    return printed | ({"priority": 1} if wide else {})


def condition(name: str) -> Schema:
    """Return the column of a condition."""
    return column(name, f'.status.conditions[?(@.type=="{name}")].status')
