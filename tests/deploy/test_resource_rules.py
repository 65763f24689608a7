"""The rules of the definitions compile, and refuse what no monitor, suite or run can be."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.manifests import resource_definitions
from tests.support.structural_schemas import API_SERVER

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
    ({"type": "string", "maxLength": 9}, "isSemver(self.part)", "newer than Kubernetes 1.30"),
]
"""A part, a rule that reads it, and why an API server refuses the rule, or charges too much."""


def test_an_api_server_compiles_every_rule() -> None:
    answer = _cel_answer({"schemas": list(_specs().values()), "cases": []})
    assert dict(zip(_specs(), answer["mistakes"], strict=True)) == {kind: [] for kind in _specs()}


def test_the_cost_of_rules_is_within_the_budget_of_an_api_server() -> None:
    costs = _cel_answer({"schemas": list(_specs().values()), "cases": []})["costs"]
    for kind, of_rules in zip(_specs(), costs, strict=True):
        assert max(of_rules) <= API_SERVER["max_cost_of_rule"], kind
        assert sum(of_rules) <= API_SERVER["max_cost_of_definition"], kind


def test_a_rule_that_costs_too_much_is_recognised() -> None:
    item = {"type": "object", "properties": {"x": {"type": "string", "maxLength": 100}}}
    part = {"type": "array", "maxItems": 1000, "items": item}
    rule = "self.part.all(a, self.part.exists_one(b, a.x == b.x))"
    [[cost]] = _cel_answer({"schemas": [_object(part, rule)], "cases": []})["costs"]
    assert cost > API_SERVER["max_cost_of_rule"]


def test_a_version_of_a_definition_has_fields_that_the_oldest_api_server_knows() -> None:
    known = API_SERVER["fields_of_versions"]
    for definition in resource_definitions():
        for version in definition["spec"]["versions"]:
            since = [known[field] for field in version]
            assert max(int(of.split(".")[1]) for of in since) <= 30


def _object(part: dict[str, Any], rule: str) -> dict[str, Any]:
    validations = [{"rule": rule, "message": "-"}]
    properties = {"part": part}
    return {
        "type": "object", "properties": properties, "x-kubernetes-validations": validations,
    }  # fmt: skip


def test_rules_that_an_api_server_refuses_are_recognised() -> None:
    schemas = [_object(part, rule) for part, rule, _ in REFUSED]
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
    result = subprocess.run(
        [str(Path(checker).parent / "python"), str(script)],
        input=json.dumps(request), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer
