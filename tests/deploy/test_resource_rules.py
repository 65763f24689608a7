"""The rules of the definitions refuse what no monitor, suite or run can be, in their own words."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.deployment.resources.definitions import definitions

ASKS: dict[str, Any] = {"suite": {"name": "a"}, "target": "openai:x", "cadence": "6h"}
TRAFFIC: dict[str, Any] = {"target": "traffic:chat", "window": "1h"}
RUN: dict[str, Any] = {"suite": {"hash": "0" * 32}, "targets": ["a"], "repeats": 1}
CASES: list[tuple[str, dict[str, Any], dict[str, Any] | None, str | None]] = [
    ("BiasMonitor", ASKS, None, None),
    ("BiasMonitor", TRAFFIC, None, None),
    ("BiasMonitor", ASKS, ASKS, None),
    ("BiasMonitor", {"target": "openai:x", "cadence": "6h"}, None, "names its suite"),
    ("BiasMonitor", {**TRAFFIC, "suite": {"name": "a"}}, None, "monitor of traffic has none"),
    ("BiasMonitor", {**ASKS, "suite": {"name": "a", "hash": "b"}}, None, "by name or by hash"),
    ("BiasMonitor", {**ASKS, "suite": {}}, None, "by name or by hash"),
    ("BiasMonitor", {"target": "traffic:chat"}, None, "a monitor of traffic has a window"),
    ("BiasMonitor", {**TRAFFIC, "repeats": 2}, None, "a monitor of traffic has none of"),
    ("BiasMonitor", {**ASKS, "lateness": "1m"}, None, "only a monitor of traffic has"),
    ("BiasMonitor", {**ASKS, "name": "b"}, {**ASKS, "name": "a"}, "never changes"),
    ("BiasMonitor", {**ASKS, "name": "b"}, ASKS, "never changes"),
    ("BiasSuite", {"hash": "a"}, None, None),
    ("BiasSuite", {"content": {}}, None, None),
    ("BiasSuite", {}, None, "give the suite's content"),
    ("BiasSuite", {"hash": "a", "content": {}}, None, "give the suite's content"),
    ("BiasRun", RUN, RUN, None),
    ("BiasRun", {**RUN, "repeats": 2}, RUN, "a run never changes"),
]


def test_each_rule_refuses_what_it_is_for_and_nothing_else() -> None:
    if (checker := shutil.which("checkov")) is None:
        pytest.skip("checkov is not here: make test-deploy installs it")
    schemas = {
        each["spec"]["names"]["kind"]: each["spec"]["versions"][0]["schema"]["openAPIV3Schema"][
            "properties"
        ]["spec"]
        for each in definitions()
    }
    asked = [[schemas[kind], new, old] for kind, new, old, _ in CASES]
    script = Path(__file__).parents[1] / "support" / "cel_rules.py"
    done = subprocess.run(
        [str(Path(checker).parent / "python"), str(script)],
        input=json.dumps(asked), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for (kind, new, _, said), found in zip(CASES, json.loads(done.stdout), strict=True):
        if said is None:
            assert found == [], (kind, new)
        else:
            assert any(said in each for each in found), (kind, new, found)
