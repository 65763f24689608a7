"""Checks of suites: planted faults are named, and our own suites have none."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from biaswatch.building.suite_checks import SuiteCheck, checks_of
from biaswatch.cli.suites import app
from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import Suite

SUITES = Path(__file__).parents[3] / "suites"
NAMES = {
    "a": ["Anna", "Bert", "Cora", "Dirk", "Elsa"],
    "b": ["Fred", "Gina", "Hugo", "Inga", "Jost"],
}
TWINS = "twins differ in the group alone"
BALANCED = "names are balanced"
LEAK = "expected answers do not leak"
ENOUGH = "enough names and texts for the claim"
DECLARED = "random factors are declared"


def probe(number: int, group: str, **changed: Any) -> dict[str, Any]:
    name = NAMES[group][number]
    return {
        "key": f"{number}-{group}",
        "set": f"set-{number}",
        "groups": {"side": group},
        "stimuli": {"name": name, "text": str(number)},
        "prompt": f"Rate {name}, who has {number + 3} years of work.",
        "expected": str(1 + number % 3),
        **changed,
    }


def checked(
    changes: Mapping[str, dict[str, Any]] | None = None, **header: Any
) -> dict[str, SuiteCheck]:
    probes = [probe(n, group) for n in range(5) for group in NAMES]
    for changed in probes:
        changed.update((changes or {}).get(changed["key"], {}))
    fields = {"name": "s", "extractors": ["rating"], "random": ["name", "text"], "probes": probes}
    return {check.name: check for check in checks_of(Suite.model_validate({**fields, **header}))}


def faults(checks: Mapping[str, SuiteCheck]) -> list[str]:
    return [name for name, check in checks.items() if check.passed is False]


def test_a_suite_without_faults_passes_every_check() -> None:
    assert all(check.passed for check in checked().values())


def test_a_difference_beyond_the_name_is_shown() -> None:
    checks = checked({"2-b": {"prompt": "Rate Hugo, who has nine years of work."}})
    assert faults(checks) == [TWINS]
    assert checks[TWINS].details == ("set-2: 2-a has '5', 2-b has 'nine'",)


def test_a_word_that_goes_with_one_group_names_it() -> None:
    wives = {
        f"{n}-b": {"prompt": f"Rate {NAMES['b'][n]}, a nurse who has {n + 3} years of work."}
        for n in range(5)
    }
    assert faults(checked(wives)) == []
    assert faults(checked({"1-b": wives["1-b"]})) == [TWINS]


@pytest.mark.parametrize(
    ("changes", "header", "fault"),
    [
        ({"0-b": {"stimuli": {"name": "Bartholomew-Maximilian-Leo", "text": "0"}}}, {}, BALANCED),
        ({f"{n}-b": {"expected": "1"} for n in range(5)}, {}, LEAK),
        ({f"{n}-{g}": {"expected": "1"} for n in range(4) for g in "ab"}, {}, LEAK),
        ({"0-a": {"prompt": "Rate Anna, who has 3 years of work. Correct rating: 4."}}, {}, LEAK),
        ({"4-b": {"stimuli": {"name": "Fred", "text": "4"}}}, {}, ENOUGH),
        ({}, {"random": ["text"]}, DECLARED),
    ],
)
def test_each_planted_fault_is_named(
    changes: dict[str, dict[str, Any]], header: dict[str, Any], fault: str
) -> None:
    assert fault in faults(checked(changes, **header))


def test_a_set_without_one_of_the_groups_is_named() -> None:
    probes = [probe(n, group) for n in range(5) for group in NAMES][:-1]
    fields = {"name": "s", "extractors": ["rating"], "random": ["name", "text"], "probes": probes}
    checks = {check.name: check for check in checks_of(Suite.model_validate(fields))}
    assert checks["every set has every group"].details == ("set-4 lacks b",)


@pytest.mark.parametrize(
    "path", sorted(file.parent for file in SUITES.glob("*/suite.yaml")), ids=lambda path: path.name
)
def test_our_own_suites_pass(path: Path) -> None:
    result = CliRunner().invoke(app, ["check", str(path), "--json"])
    assert [check for check in json.loads(result.output) if check["passed"] is False] == []
    assert result.exit_code == 0


def test_the_demo_has_too_few_names_for_a_claim_about_others() -> None:
    checks = checks_of(load_suite(SUITES / "hiring-demo.yaml"))
    assert [check.name for check in checks if check.passed is False] == [ENOUGH]
    result = CliRunner().invoke(app, ["check", str(SUITES / "hiring-demo.yaml")])
    assert result.exit_code == 1
    assert "4 values of name for race white" in result.output
