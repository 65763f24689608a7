"""The commands whose numbers the second edition keeps, and how to read what they print."""

import json
from collections.abc import Mapping
from typing import Any

SUITE, MONITOR = "suites/hiring-demo.yaml", "examples/monitor.yaml"
GROUP = ("--group", "group", "--feature", "score")
RANGE = ("--range", "score=1:5")
FEW = ("--config", "permutations=200")

ON_TABLES: Mapping[str, tuple[str, ...]] = {
    "two groups": ("diagnose", "two.csv", *GROUP, *FEW),
    "two groups, range": ("diagnose", "two.csv", *GROUP, *RANGE, *FEW),
    "two groups, tolerance": (
        "diagnose",
        "two.csv",
        *GROUP,
        *RANGE,
        *FEW,
        "--config",
        "tolerance=0.8",
    ),
    "two groups, alpha": ("diagnose", "two.csv", *GROUP, *FEW, "--config", "alpha=0.01"),
    "three groups": ("diagnose", "three.csv", *GROUP, *FEW),
    "three groups, false discoveries": (
        *("diagnose", "three.csv", *GROUP, *FEW),
        *("--config", "correction=bh", "--config", "all=true"),
    ),
    "seven groups": ("diagnose", "seven.csv", *GROUP, *RANGE, *FEW),
    "seven groups, pairs": ("diagnose", "seven.csv", *GROUP, *FEW, "--config", "compare=pairs"),
    "small groups": ("diagnose", "small.csv", *GROUP, *RANGE, *FEW),
    "unbalanced groups": ("diagnose", "unbalanced.csv", *GROUP, *RANGE, *FEW),
    "twins": ("diagnose", "twins.csv", *GROUP, "--set", "set", *RANGE, *FEW),
    "few twins": ("diagnose", "few_twins.csv", *GROUP, "--set", "set", *RANGE, *FEW),
    "missing answers": ("diagnose", "missing.csv", *GROUP, "--set", "set", *RANGE, *FEW),
    "repeats": (
        *("diagnose", "repeats.csv", *GROUP, "--unit", "unit", "--set", "set", *RANGE, *FEW),
    ),
    "bank": (
        *("diagnose", "repeats.csv", *GROUP, "--unit", "unit", "--set", "set", *RANGE, *FEW),
        *("--config", "claim=bank"),
    ),
    "heavy tails": ("diagnose", "heavy.csv", *GROUP, *FEW),
    "answers all alike": ("diagnose", "alike.csv", *GROUP, *RANGE, *FEW),
    "domains and baselines": (
        *("diagnose", "domains.csv", *GROUP, "--feature", "length", "--config", "domain=domain"),
        *("--config", "baseline=base", "--config", "calibrate=true", *FEW),
    ),
    "statistics": (
        *(
            "diagnose",
            "domains.csv",
            *GROUP,
            *FEW,
            "--config",
            "statistic=mean",
            "--config",
            "statistic=median",
        ),
        *("--config", "ddof=1"),
    ),
    "yes and no": ("diagnose", "selections.csv", "--group", "group", "--feature", "selected", *FEW),
    "labels": (
        *(
            "diagnose",
            "labels.csv",
            "--group",
            "group",
            "--feature",
            "rude",
            "--config",
            "labels=label",
        ),
        *FEW,
    ),
    "log": (*("diagnose", "log.jsonl", "--extract", "vader,length", "--group", "race"), *FEW),
    "counts": ("table", "30", "70", "45", "55"),
    "counts with a zero": ("table", "0", "12", "7", "9"),
    "counts, Yates": ("table", "30", "70", "45", "55", "--yates", "--alpha", "0.1"),
    "cases": (
        *("table", "selections.csv", "--group", "group", "--groups", "a,b"),
        *("--outcome", "hired=yes"),
    ),
    "cases by site": (
        *("table", "selections.csv", "--group", "group", "--groups", "a,b"),
        *("--outcome", "selected=1", "--strata", "site"),
    ),
    "cases, adjusted": (
        *("table", "selections.csv", "--group", "group", "--groups", "a,b"),
        *("--outcome", "selected=1", "--adjust", "age", "--where", "site=north|south"),
    ),
    "audit by score": (
        *("ll144", "applicants.csv", "--group", "race", "--group", "sex", "--score", "score"),
        *("--unit", "person", "--format", "json"),
    ),
    "audit by selection": (
        *("ll144", "applicants.csv", "--group", "race", "--score", "score", "--unit", "person"),
        *("--selected-at-least", "55", "--small-share", "0", "--format", "json"),
    ),
    "plan of ratings": (
        "plan",
        SUITE,
        "--gap",
        "0.4",
        "--range",
        "1:5",
        "--config",
        "simulations=50",
    ),
    "plan of yes and no": (
        "plan",
        SUITE,
        "--gap",
        "0.2",
        "--rate",
        "0.4",
        "--config",
        "simulations=50",
    ),
    "plan for a bank": (
        "plan",
        SUITE,
        "--gap",
        "0.4",
        "--sd",
        "0.8",
        "--config",
        "claim=bank",
        "--config",
        "simulations=50",
    ),
    "plan of a monitor": ("plan", MONITOR, "--gap", "0.4"),
}
"""By what they show. Each prints JSON and needs no platform."""

ON_RUNS: Mapping[str, tuple[str, ...]] = {
    "run, biased": ("run", SUITE, "--target", "simulator:biased"),
    "run, unbiased": ("run", SUITE, "--target", "simulator:unbiased", "--repeats", "2"),
    "diagnosis of a run": ("diagnose", "{biased}", "--group", "race", *FEW),
    "comparison of runs": ("compare", "{biased}", "{unbiased}"),
    "audit of a run": ("ll144", "{biased}", "--group", "race", "--format", "json"),
    "report of a run": ("report", "{biased}", "--format", "json"),
}
"""In this order: later ones name the runs before them."""

FIELD_NAMES: Mapping[str, str] = {"state": "stand"}
"""New name of a field -> its name in the recording, for fields that were renamed."""

DIFFERENT_EACH_TIME = frozenset({"at", "begun", "concluded", "run_id", "completion_id", "version"})
"""Fields that differ between two equal runs."""


def numbers_of(printed: str) -> dict[str, Any]:
    """Return every number, verdict and name in printed JSON by its path; sentences are left out."""
    leaves: dict[str, Any] = {}
    _collect(json.loads(printed), "", leaves)
    return leaves


def _collect(value: Any, path: str, leaves: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in DIFFERENT_EACH_TIME:
                _collect(part, f"{path}.{FIELD_NAMES.get(name, name)}", leaves)
    elif isinstance(value, list):
        for place, part in enumerate(value):
            _collect(part, f"{path}[{place}]", leaves)
    elif not isinstance(value, str) or " " not in value.strip():
        leaves[path] = value
