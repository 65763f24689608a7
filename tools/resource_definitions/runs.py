"""The definition of a BiasRun."""

from biaswatch.shared.requests.runs import NO_JUDGE, SELF, RunRequest
from tools.resource_definitions.parts import (
    QUESTIONS,
    RUN_VERDICT,
    SUITE,
    TEXT,
    column,
    condition,
    target_schema,
)
from tools.structural_schema import Schema, structural

STATUS: Schema = {
    "run": TEXT, "state": TEXT, "answered": TEXT, "verdict": RUN_VERDICT, "gap": TEXT,
    "comparison": TEXT, **QUESTIONS,
}  # fmt: skip
COLUMNS: list[Schema] = [
    condition("Ready"),
    column("State", ".status.state"),
    column("Answered", ".status.answered"),
    column("Verdict", ".status.verdict"),
    column("Gap", ".status.gap"),
    column("Twins", ".status.sameTreatment", wide=True),
    column("Group effect", ".status.groupEffect", wide=True),
    column("About", ".status.about", wide=True),
    column("Comparison", ".status.comparison", wide=True),
    column("Run", ".status.run", wide=True),
]


def spec() -> Schema:
    """Return the request for a run, which is immutable."""
    fields = structural(RunRequest.model_json_schema())["properties"]
    del fields["suite_hash"]
    target = target_schema()
    judge = target | {"pattern": f"{target['pattern']}|^({SELF}|{NO_JUDGE})$"}
    fields["targets"]["items"], fields["judges"]["items"] = target, judge
    fields["user"] = target
    return {
        "type": "object",
        "description": "The fields of `biaswatch run`; the suite by name or by hash.",
        "required": ["suite", "targets"],
        "properties": {"suite": SUITE, **fields},
        "x-kubernetes-validations": [
            {"rule": "self == oldSelf", "message": "a run never changes; make another"}
        ],
    }
