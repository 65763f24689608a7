"""Write the definitions of the custom resources from the requests of the gateway."""

import sys
from pathlib import Path
from typing import Any

import yaml

from biaswatch.services.operator.domain.conditions import (
    GROUP,
    MONITORS,
    RUNS,
    SEARCHES,
    SUITES,
    VERSION,
)
from tools.manifest_dumper import ManifestDumper
from tools.resource_definitions import monitors, runs, searches, suites
from tools.resource_definitions.parts import MOMENT, NUMBER, TEXT, column
from tools.structural_schema import Schema

OLDER_VERSIONS = ("v1alpha1",)
"""Versions that are also served, with the same fields."""
CHART = Path(__file__).parents[2] / "deploy" / "helm" / "biaswatch-cluster"
PATH = CHART / "templates" / "definitions.yaml"
KEPT = {
    "helm.sh/resource-policy": "keep",
    "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
}
"""Helm, Argo and Flux keep a definition: the resources of all namespaces would go with it."""
DEPRECATION = f"This version has the same fields as {GROUP}/{VERSION}; write that one instead."
HEADER = "# Written by tools/resource_definitions (`make manifests`).\n"
AGE = column("Age", ".metadata.creationTimestamp", kind="date")


def main() -> int:
    """Write the definitions; with --check, exit with 1 where the file is out of date."""
    text = HEADER + yaml.dump_all(
        definitions(), Dumper=ManifestDumper, sort_keys=False, width=1000, explicit_start=True
    )
    if "--check" in sys.argv:
        return int(PATH.read_text() != text)
    PATH.write_text(text)
    return 0


def definitions() -> list[dict[str, Any]]:
    """Return the definitions of all resources."""
    kinds = (
        ("BiasMonitor", MONITORS, "bm", monitors),
        ("BiasSuite", SUITES, "bs", suites),
        ("BiasRun", RUNS, "br", runs),
        ("BiasSearch", SEARCHES, "bsr", searches),
    )
    return [
        _definition(kind, plural, short, of.spec(), of.STATUS, of.COLUMNS)
        for kind, plural, short, of in kinds
    ]


def _definition(
    kind: str, plural: str, short: str, spec: Schema, status: Schema, columns: list[Schema]
) -> dict[str, Any]:
    properties = {
        "apiVersion": TEXT,
        "kind": TEXT,
        "metadata": {"type": "object"},
        "spec": spec,
        "status": _status(status),
    }
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": properties}
        },
        "subresources": {"status": {}},
        "additionalPrinterColumns": [*columns, AGE],
    }
    older = {"storage": False, "deprecated": True, "deprecationWarning": DEPRECATION}
    versions = [version, *(version | {"name": name, **older} for name in OLDER_VERSIONS)]
    names = {
        "kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower(),
        "shortNames": [short], "categories": ["biaswatch"],
    }  # fmt: skip
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{GROUP}",
            "labels": {"app.kubernetes.io/part-of": "biaswatch"},
            "annotations": KEPT,
        },
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": versions},
    }


def _status(fields: Schema) -> Schema:
    condition = {
        "type": "object",
        "required": ["type", "status", "reason", "message", "lastTransitionTime"],
        "properties": {
            "type": TEXT,
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "reason": TEXT,
            "message": TEXT,
            "lastTransitionTime": MOMENT,
        },
    }
    conditions = {
        "type": "array",
        "items": condition,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    }
    common = {"observedGeneration": {**NUMBER, "format": "int64"}, "conditions": conditions}
    return {"type": "object", "properties": {**common, **fields}}


if __name__ == "__main__":
    sys.exit(main())
