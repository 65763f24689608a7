"""The rules of the definitions compile, and refuse what no monitor, suite or run can be."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.manifests import resource_definitions

RATING: dict[str, Any] = {"extractor": "rating", "feature": "rating", "low": 1, "high": 5}
FEATURES: dict[str, Any] = {"features": [RATING], "comparisons": [{"a": "x"}]}
ASKS: dict[str, Any] = {
    "suite": {"name": "a"}, "target": "openai:x", "cadence": "6h", **FEATURES,
}  # fmt: skip
TRAFFIC: dict[str, Any] = {"target": "traffic:chat", "window": "1h", **FEATURES}
SEARCH: dict[str, Any] = {
    "target": "openai:x",
    "calls": 100,
    "space": {"name": "desk", "groups": {"a": ["Ann"], "b": ["Bob"]}},
}
RUN: dict[str, Any] = {"suite": {"hash": "0" * 32}, "targets": ["a"], "repeats": 1}
CASES: list[tuple[str, dict[str, Any], dict[str, Any] | None, str | None]] = [
    ("BiasMonitor", ASKS, None, None),
    ("BiasMonitor", TRAFFIC, None, None),
    ("BiasMonitor", ASKS, ASKS, None),
    ("BiasMonitor", {"target": "openai:x", "cadence": "6h", **FEATURES}, None, "names its suite"),
    ("BiasMonitor", {**TRAFFIC, "suite": {"name": "a"}}, None, "monitor of traffic has none"),
    ("BiasMonitor", {**ASKS, "suite": {"name": "a", "hash": "b"}}, None, "by name or by hash"),
    ("BiasMonitor", {**ASKS, "suite": {}}, None, "by name or by hash"),
    ("BiasMonitor", {"target": "traffic:chat", **FEATURES}, None, "of traffic has a window"),
    ("BiasMonitor", {**TRAFFIC, "repeats": 2}, None, "a monitor of traffic has none of"),
    ("BiasMonitor", {**TRAFFIC, "parameters": {"top_k": 1}}, None, "has none of"),
    ("BiasMonitor", {**TRAFFIC, "parameters": {}}, None, "has none of"),
    ("BiasMonitor", {**ASKS, "parameters": {"stop": ["a"], "x": {"y": 1}}}, None, None),
    ("BiasMonitor", {**ASKS, "lateness": "1m"}, None, "only a monitor of traffic has"),
    ("BiasMonitor", {**ASKS, "name": "b"}, {**ASKS, "name": "a"}, "never changes"),
    ("BiasMonitor", {**ASKS, "name": "b"}, ASKS, "never changes"),
    ("BiasMonitor", {**ASKS, "features": [RATING]}, None, None),
    ("BiasMonitor", {**ASKS, "features": [{**RATING, "low": 5}]}, None, "low must be below high"),
    ("BiasMonitor", {**ASKS, "features": 2 * [RATING]}, None, "is watched twice"),
    ("BiasMonitor", {**ASKS, "features": [RATING, {**RATING, "method": "odds"}]}, None, None),
    ("BiasMonitor", {**ASKS, "comparisons": [{"a": "x", "b": "x"}]}, None, "with itself"),
    ("BiasMonitor", {**ASKS, "comparisons": [{"a": "x"}, {"a": "x", "b": "y"}]}, None, None),
    ("BiasMonitor", {**ASKS, "target": "openai:x@https://u:p@host/v1"}, None, "no user or pass"),
    ("BiasMonitor", {**ASKS, "target": "openai:x@https://host/v1?role=a@b"}, None, None),
    ("BiasRun", {**RUN, "targets": ["a", "openai:x@https://u@host"]}, None, "no user or pass"),
    ("BiasRun", {**RUN, "judges": ["openai:x@https://u@host"]}, None, "no user or password"),
    ("BiasRun", {**RUN, "user": "openai:x@https://u@host"}, None, "no user or password"),
    ("BiasSearch", {**SEARCH, "target": "openai:x@https://u@host"}, None, "no user or password"),
    ("BiasSuite", {"hash": "a"}, None, None),
    ("BiasSuite", {"content": {}}, None, None),
    ("BiasSuite", {}, None, "give the suite's content"),
    ("BiasSuite", {"hash": "a", "content": {}}, None, "give the suite's content"),
    ("BiasRun", RUN, RUN, None),
    ("BiasRun", {**RUN, "repeats": 2}, RUN, "a run never changes"),
    ("BiasRun", {**RUN, "parameters": {"a": 1}}, {**RUN, "parameters": {"a": 2}}, "never changes"),
    ("BiasSearch", {**SEARCH, "calls": 200}, SEARCH, None),
    ("BiasSearch", {**SEARCH, "calls": 50}, SEARCH, "never falls"),
    ("BiasSearch", {**SEARCH, "target": "openai:y"}, SEARCH, "only the budget"),
    ("BiasSearch", {**SEARCH, "space": {**SEARCH["space"], "groups": {}}}, SEARCH, "only the"),
]

TEXT = {"type": "string"}
ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "object", "additionalProperties": ANYTHING}, "has(self.part)", "undefined field"),
    ({"type": "array", "items": ANYTHING}, "has(self.part)", "undefined field"),
    (ANYTHING, "has(self.part)", "undefined field"),
    (TEXT, "self.part == oldSelf.part", "has no maxLength"),
    ({"type": "array", "items": TEXT}, "self.part.exists(x, x == 'a')", "has no maxItems"),
    (
        {"type": "array", "maxItems": 9, "items": {"type": "object", "properties": {"x": TEXT}}},
        "self.part.all(i, i.x == 'a')",
        "i.x has no maxLength",
    ),
    (TEXT, "self.part > 1", "no matching overload"),
    ({"type": "integer"}, "self.part", "not true or false"),
]
"""A part, a rule that reads it, and why an API server refuses the rule, or charges too much."""


def test_an_api_server_compiles_every_rule() -> None:
    answer = _cel_answer({"schemas": list(_specs().values()), "cases": []})
    assert dict(zip(_specs(), answer["mistakes"], strict=True)) == {kind: [] for kind in _specs()}


def test_rules_that_an_api_server_refuses_are_recognised() -> None:
    schemas = [
        {"type": "object", "properties": {"part": part},
         "x-kubernetes-validations": [{"rule": rule, "message": "-"}]}
        for part, rule, _ in REFUSED
    ]  # fmt: skip
    answer = _cel_answer({"schemas": schemas, "cases": []})["mistakes"]
    for (part, rule, why), mistakes in zip(REFUSED, answer, strict=True):
        assert any(why in mistake for mistake in mistakes), (part, rule, mistakes)


def test_a_rule_below_a_list_without_a_bound_is_recognised() -> None:
    rule = {"rule": "has(self.part)", "message": "-"}
    item = {"type": "object", "properties": {"part": TEXT}, "x-kubernetes-validations": [rule]}
    listed = {"type": "object", "properties": {"all": {"type": "array", "items": item}}}
    [[mistake]] = _cel_answer({"schemas": [listed], "cases": []})["mistakes"]
    assert "has no bound" in mistake


def test_each_rule_refuses_its_own_cases_alone() -> None:
    cases = [[_specs()[kind], new, old] for kind, new, old, _ in CASES]
    answer = _cel_answer({"schemas": [], "cases": cases})["broken"]
    for (kind, new, _, refusal), messages in zip(CASES, answer, strict=True):
        if refusal is None:
            assert messages == [], (kind, new)
        else:
            assert any(refusal in message for message in messages), (kind, new, messages)


def _specs() -> dict[str, dict[str, Any]]:
    """Return the schema of the spec of each kind of resource."""
    return {
        definition["spec"]["names"]["kind"]: definition["spec"]["versions"][0]["schema"][
            "openAPIV3Schema"
        ]["properties"]["spec"]
        for definition in resource_definitions()
    }


def _cel_answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return what the library of CEL, in an environment of its own, says of schemas and cases."""
    if (checker := shutil.which("checkov")) is None:
        pytest.skip("checkov is not here: make test-deploy installs it")
    script = Path(__file__).parents[1] / "support" / "cel_rules.py"
    done = subprocess.run(
        [str(Path(checker).parent / "python"), str(script)],
        input=json.dumps(request), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
