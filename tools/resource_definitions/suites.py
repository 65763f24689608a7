"""The definition of a BiasSuite."""

from biaswatch.shared.contracts import Suite
from tools.resource_definitions.parts import HASH, NUMBER, TEXT, column, condition
from tools.structural_schema import Schema, structural

STATUS: Schema = {"hash": TEXT, "suite": TEXT, "probes": NUMBER}
COLUMNS: list[Schema] = [
    condition("Ready"),
    column("Suite", ".status.suite"),
    column("Probes", ".status.probes", kind="integer"),
    column("Hash", ".status.hash"),
]


def spec() -> Schema:
    """Return a suite by its content or its hash."""
    content = structural(Suite.model_json_schema(), defaults=False)
    content["description"] = "The suite itself, as `biaswatch run` would upload it."
    return {
        "type": "object",
        "properties": {"content": content, "hash": HASH},
        "x-kubernetes-validations": [
            {
                "rule": "has(self.content) != has(self.hash)",
                "message": "give the suite's content, or the hash of one that was uploaded",
            }
        ],
    }
