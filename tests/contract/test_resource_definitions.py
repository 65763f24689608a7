"""The definitions are schemas that an API server accepts, and hold what the gateway takes."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from biaswatch.services.operator.domain.conditions import VERSION
from biaswatch.shared.contracts import Suite
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.requests.monitors import MONITOR_REQUEST
from biaswatch.shared.requests.runs import RunRequest
from tests.support.manifests import resource_definitions
from tests.support.structural_schemas import (
    as_json_schema,
    pruned,
    structural_mistakes,
    with_defaults,
)
from tools.resource_definitions.__main__ import OLDER_VERSIONS

ROOT = Path(__file__).parents[2]
BY_KIND = {definition["spec"]["names"]["kind"]: definition for definition in resource_definitions()}
EXAMPLE = yaml.safe_load((ROOT / "examples" / "monitor.yaml").read_text())
TRAFFIC = yaml.safe_load((ROOT / "examples" / "traffic.yaml").read_text())
SUITE = yaml.safe_load((ROOT / "suites" / "hiring-demo.yaml").read_text())


def _spec(kind: str) -> dict[str, Any]:
    version, *_ = BY_KIND[kind]["spec"]["versions"]
    spec: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return spec


def stored(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec as an API server would store it; raise where it would refuse it."""
    schema = _spec(kind)
    kept: dict[str, Any] = with_defaults(schema, pruned(schema, spec))
    jsonschema.validate(kept, as_json_schema(schema))
    return kept


@pytest.mark.parametrize("kind", BY_KIND)
def test_a_schema_keeps_the_rules_of_structural_schemas(kind: str) -> None:
    version, *_ = BY_KIND[kind]["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    assert structural_mistakes(schema) == []
    spec = schema["properties"]["spec"]
    filled = with_defaults(spec, {})
    properties = {key: as_json_schema(subschema) for key, subschema in spec["properties"].items()}
    for name, value in filled.items():  # a default that is refused would refuse the definition
        jsonschema.validate(value, properties[name])


@pytest.mark.parametrize(
    ("mistake", "schema"),
    [
        ("there is no type", {}),
        ("additionalProperties beside properties",
         {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
        ("a union", {"type": "string", "anyOf": [{"type": "string"}, {"type": "null"}]}),
        ("$ref", {"$ref": "#/$defs/X"}),
        ("exclusive", {"type": "integer", "exclusiveMinimum": 0}),
        ("a list without items", {"type": "array"}),
        ("atomic", {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}),
        ("default with null", {"type": "object", "properties": {}, "default": {"a": None}}),
    ],
)  # fmt: skip
def test_what_an_api_server_refuses_is_found(mistake: str, schema: dict[str, Any]) -> None:
    assert any(mistake in item for item in structural_mistakes(schema))


@pytest.mark.parametrize("file", [EXAMPLE, TRAFFIC], ids=["asks", "traffic"])
def test_a_stored_monitor_is_one_that_the_gateway_takes(file: dict[str, Any]) -> None:
    spec = {key: value for key, value in file.items() if key != "suite"}
    if "suite" in file:
        spec["suite"] = {"name": "bank"}
    kept = stored("BiasMonitor", spec)
    asked = {key: value for key, value in kept.items() if key not in {"suite", "paused"}}
    if "suite" in file:
        asked["suite_hash"] = "a" * 32
    direct = {key: value for key, value in file.items() if key != "suite"}
    direct |= {"suite_hash": "a" * 32} if "suite" in file else {}
    assert MONITOR_REQUEST.validate_python(asked) == MONITOR_REQUEST.validate_python(direct)


def test_a_stored_suite_has_the_hash_of_its_file() -> None:
    kept = stored("BiasSuite", {"content": SUITE})["content"]
    assert Suite.model_validate(kept).hash == Suite.model_validate(SUITE).hash
    assert len(yaml.safe_dump(kept)) <= len(yaml.safe_dump(SUITE))  # no default in every probe


def test_a_stored_run_is_one_that_the_gateway_takes() -> None:
    spec = {"suite": {"hash": "a" * 32}, "targets": ["simulator:biased"], "parameters": {"x": [1]}}
    kept = stored("BiasRun", spec)
    kept["suite_hash"] = kept.pop("suite")["hash"]
    asked = RunRequest(suite_hash="a" * 32, targets=["simulator:biased"], parameters={"x": [1]})
    assert RunRequest.model_validate(kept) == asked


@pytest.mark.parametrize("window", ["1h", "90 s", "0.5h", "10.0m", "1.05d", 1, 3600])
def test_every_positive_duration_is_stored(window: str | int) -> None:
    assert stored("BiasMonitor", {**TRAFFIC, "window": window})["window"] == window


def test_every_form_of_a_target_is_stored() -> None:
    examples = [provider.example.split()[-1] for provider in PROVIDERS.values()]
    targets = [*examples, "openai:m@https://host/v1?temperature=0&role=play a@b.c"]
    spec = {"suite": {}, "targets": targets, "judges": ["self"], "user": examples[0]}
    assert stored("BiasRun", spec)["targets"] == targets


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("BiasMonitor", {**TRAFFIC, "alpha": 2}),
        ("BiasMonitor", {**TRAFFIC, "window": "soon"}),
        ("BiasMonitor", {**TRAFFIC, "window": "0s"}),
        ("BiasMonitor", {**TRAFFIC, "window": "0.0 h"}),
        ("BiasMonitor", {**TRAFFIC, "window": -5}),
        ("BiasMonitor", {**TRAFFIC, "window": 0}),
        ("BiasMonitor", {**TRAFFIC, "features": []}),
        ("BiasMonitor", {**TRAFFIC, "comparisons": 2 * [{"dimension": "race", "a": "x"}]}),
        ("BiasMonitor", {**TRAFFIC, "target": "gpt-5"}),
        ("BiasMonitor", {**TRAFFIC, "target": "nobody:gpt-5"}),
        ("BiasMonitor", {**TRAFFIC, "webhook": "hello"}),
        ("BiasMonitor", {**TRAFFIC, "webhook": "https://user:password@example.com"}),
        ("BiasRun", {"suite": {}, "targets": ["gpt-5"]}),
        ("BiasRun", {"suite": {}, "targets": ["openai:m"], "judges": ["gpt-5"]}),
        ("BiasRun", {"suite": {}, "targets": ["openai:m"], "user": "traffic:x"}),
        ("BiasRun", {"suite": {}, "targets": ["a"], "repeats": 0}),
        ("BiasSuite", {"content": {"name": "no probes", "extractors": ["words"]}}),
    ],
)
def test_what_the_schema_forbids_never_reaches_the_operator(
    kind: str, spec: dict[str, Any]
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        stored(kind, spec)


def test_columns_say_what_a_team_must_know_and_exist_in_the_status() -> None:
    version, *_ = BY_KIND["BiasMonitor"]["spec"]["versions"]
    columns = {
        additionalprintercolumn["name"]: additionalprintercolumn["jsonPath"]
        for additionalprintercolumn in version["additionalPrinterColumns"]
    }
    assert {"Verdict", "Gap", "Since", "Next round", "Alarming"} <= columns.keys()
    for item in BY_KIND.values():
        version, *_ = item["spec"]["versions"]
        status = version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
        for column in version["additionalPrinterColumns"]:
            if column["jsonPath"].startswith(".status."):
                assert column["jsonPath"].split(".")[2].split("[")[0] in status


@pytest.mark.parametrize("kind", BY_KIND)
def test_versions_differ_only_in_their_name(kind: str) -> None:
    """The API server converts without a webhook, so no version may have a field of its own."""
    spec = BY_KIND[kind]["spec"]
    newest, *older = spec["versions"]
    assert "conversion" not in spec
    assert (newest["name"], newest["storage"], newest["served"]) == (VERSION, True, True)
    assert [version["name"] for version in older] == list(OLDER_VERSIONS)
    for version in older:
        assert (version["storage"], version["served"], version["deprecated"]) == (False, True, True)
        assert version["schema"] == newest["schema"]
        assert version["additionalPrinterColumns"] == newest["additionalPrinterColumns"]
