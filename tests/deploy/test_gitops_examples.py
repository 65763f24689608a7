"""The examples for Argo CD and Flux name folders that exist, and never prune definitions."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from biaswatch.services.operator.domain.conditions import GROUP, VERSION
from tests.support.manifests import resource_definitions

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "gitops"


def applied(name: str) -> dict[str, tuple[str, bool]]:
    """Return the folder of each application, and whether it is pruned."""
    result = {}
    for document in documents(name):
        spec = document["spec"]
        if document["kind"] == "Application":
            pruned = spec["syncPolicy"]["automated"]["prune"]
            result[document["metadata"]["name"]] = (spec["source"]["path"], pruned)
        elif document["kind"] == "Kustomization":
            result[document["metadata"]["name"]] = (spec["path"].removeprefix("./"), spec["prune"])
    return result


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


@pytest.mark.parametrize("name", ["argo-cd.yaml", "flux.yaml"])
def test_only_the_shared_definitions_are_never_pruned(name: str) -> None:
    result = applied(name)
    assert result == {
        "biaswatch-cluster": ("deploy/k8s/cluster", False),
        "biaswatch": ("deploy/k8s/overlays/production", True),
        "hiring-monitors": ("monitors", True),
    }
    paths = [path for path, _ in result.values() if path.startswith("deploy/")]
    assert all((ROOT / path / "kustomization.yaml").exists() for path in paths)


def test_health_is_that_of_existing_kinds_and_conditions() -> None:
    [config] = documents("argo-cd-health.yaml")
    kinds = {definition["spec"]["names"]["kind"] for definition in resource_definitions()}
    for key in config["data"]:
        group, _, kind = key.removeprefix("resource.customizations.health.").partition("_")
        assert (group, kind in kinds) == (GROUP, True)
    [check] = [
        check
        for document in documents("flux.yaml")
        for check in document["spec"].get("healthChecks", ())
    ]
    assert check["apiVersion"] == f"{GROUP}/{VERSION}"
