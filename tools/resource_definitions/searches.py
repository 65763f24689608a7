"""The definition of a BiasSearch."""

from biaswatch.shared.contracts.search import (
    MOST_CONTEXTS,
    MOST_GROUPS,
    MOST_PERSONS,
    MOST_TOPICS,
    Topic,
)
from biaswatch.shared.requests.search_views import SearchRequest
from tools.resource_definitions.parts import (
    NUMBER,
    RUN_VERDICT,
    TEXT,
    column,
    condition,
    target_schema,
)
from tools.structural_schema import Schema, structural

STATUS: Schema = {
    "search": TEXT, "state": TEXT, "budget": NUMBER, "asked": TEXT, "verdict": RUN_VERDICT,
    "findings": {"type": "array", "items": TEXT},
}  # fmt: skip
COLUMNS: list[Schema] = [
    condition("Ready"),
    column("State", ".status.state"),
    column("Asked", ".status.asked"),
    column("Verdict", ".status.verdict"),
    column("Findings", ".status.findings", wide=True),
    column("Search", ".status.search", wide=True),
]


def spec() -> Schema:
    """Return the request for a search; every field but the budget is immutable."""
    fields = structural(SearchRequest.model_json_schema())["properties"]
    space, topic = fields["space"]["properties"], structural(Topic.model_json_schema())
    for name, value, most in (
        ("groups", {"type": "array", "items": TEXT, "maxItems": MOST_PERSONS}, MOST_GROUPS),
        ("topics", topic, MOST_TOPICS),
        ("contexts", TEXT, MOST_CONTEXTS),
    ):
        del space[name]["x-kubernetes-preserve-unknown-fields"]
        space[name] |= {"additionalProperties": value, "maxProperties": most}
    fields["target"], fields["proposer"] = target_schema(), target_schema() | {"nullable": True}
    grows = {"rule": "self >= oldSelf", "message": "the budget of a search never falls"}
    fixed = {"rule": "self == oldSelf", "message": "only the budget of a search may change"}
    properties = {
        name: field
        | {
            "x-kubernetes-validations": [
                *field.get("x-kubernetes-validations", ()),
                grows if name == "calls" else fixed,
            ]
        }
        for name, field in fields.items()
    }
    return {
        "type": "object",
        "description": "The fields of `biaswatch search`; the space as a mapping.",
        "required": ["space", "target"],
        "properties": properties,
    }
