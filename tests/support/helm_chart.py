"""The Helm chart, linted and rendered by Helm's own library, in the environment of the checkers."""

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.support.manifests import ROOT, run

CHART = ROOT / "deploy" / "helm" / "biaswatch"
NAMESPACE = "biaswatch"


def chart_objects(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the chart would apply with these values, hooks left out."""
    text = _helm("render", values)
    found = [each for each in yaml.safe_load_all(text) if each]
    return [each for each in found if "helm.sh/hook" not in each["metadata"].get("annotations", {})]


def chart_refusal(values: dict[str, Any]) -> str:
    """Return what Helm says of values that it refuses; empty where it takes them."""
    return _helm("check", values)


def chart_findings(values: dict[str, Any]) -> list[str]:
    """Return what Helm's linter says."""
    return [str(each["error"]) for each in json.loads(_helm("lint", values))]


def _helm(verb: str, values: dict[str, Any]) -> str:
    checker = shutil.which("checkov")
    python = str(Path(checker).parent / "python") if checker else "helm"
    done = run(
        python, str(Path(__file__).with_name("helm_verbs.py")), str(CHART), verb, json.dumps(values)
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
