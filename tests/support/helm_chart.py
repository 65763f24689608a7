"""The Helm chart, linted and rendered by Helm's own library, in the environment of the checkers."""

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.support.manifests import ROOT, run

CHART = ROOT / "deploy" / "helm" / "biaswatch"
CLUSTER_CHART = ROOT / "deploy" / "helm" / "biaswatch-cluster"
"""The chart of what all releases in a cluster share."""
NAMESPACE = "biaswatch"


def chart_objects(
    values: dict[str, Any], chart: Path = CHART, namespace: str = NAMESPACE
) -> list[dict[str, Any]]:
    """Return the objects of a chart with these values, without hooks."""
    text = _helm("render", values, chart, namespace)
    return [
        resource
        for resource in yaml.safe_load_all(text)
        if resource and "helm.sh/hook" not in resource["metadata"].get("annotations", {})
    ]


def chart_refusal(values: dict[str, Any]) -> str:
    """Return Helm's message about refused values; empty where it accepts them."""
    return _helm("check", values)


def chart_findings(values: dict[str, Any], chart: Path = CHART) -> list[str]:
    """Return the findings of Helm's linter."""
    return [str(finding["error"]) for finding in json.loads(_helm("lint", values, chart))]


def _helm(
    verb: str, values: dict[str, Any], chart: Path = CHART, namespace: str = NAMESPACE
) -> str:
    checker = shutil.which("checkov")
    python = str(Path(checker).parent / "python") if checker else "helm"
    script = str(Path(__file__).with_name("helm_verbs.py"))
    done = run(python, script, str(chart), verb, json.dumps(values), namespace)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
