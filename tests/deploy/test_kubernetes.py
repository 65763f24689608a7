"""The manifests render, fit Kubernetes' schemas, and keep the restricted standard."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from biaswatch.services.extractor.extractors import MODULES
from biaswatch.services.extractor.settings import ExtractorSettings
from biaswatch.shared.bus.topology import StreamLimits, durables, streams
from tests.support.manifests import (
    BUS_SERVICES,
    KUBERNETES,
    OVERLAYS,
    READ_FILES,
    ROOT,
    clean,
    fits_kubernetes,
    objects,
    pods,
    rendered,
    rendered_cluster,
    run,
)

CUSTOM = json.loads((Path(__file__).parent / "custom_resources.json").read_text())
WAIVED = {
    "CKV_K8S_43": "an installation sets the digests of its registry under `images`",
    "CKV_K8S_15": "the image of a version never changes",
}


@pytest.mark.parametrize("version", KUBERNETES)
def test_all_overlays_fit_the_schemas_of_kubernetes(version: str, tmp_path: Path) -> None:
    texts = {overlay: rendered(overlay) for overlay in OVERLAYS}
    fits_kubernetes(version, texts | {"cluster": rendered_cluster()}, tmp_path)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_schema_knows_every_kind_of_an_overlay(overlay: str) -> None:
    for resource in objects(overlay):
        kind = f"{resource['apiVersion']} {resource['kind']}"
        if schema := CUSTOM.get(kind):
            jsonschema.validate(resource["spec"], schema)
        else:
            assert resource["apiVersion"].split("/")[0] in {
                "v1", "apps", "autoscaling", "policy", "networking.k8s.io",
                "coordination.k8s.io", "batch", "scheduling.k8s.io",
                "rbac.authorization.k8s.io", "apiextensions.k8s.io",
            }, f"no schema knows {kind}"  # fmt: skip


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_checkov_finds_nothing(overlay: str, tmp_path: Path) -> None:
    path = tmp_path / "rendered.yaml"
    path.write_text(rendered(overlay))
    words = ["checkov", "--skip-download", "--quiet", "--compact", "--framework", "kubernetes"]
    clean(*words, "--skip-check", ",".join(WAIVED), "--file", str(path))


@pytest.mark.parametrize("component", sorted((ROOT / "deploy" / "k8s" / "components").iterdir()))
def test_every_component_is_part_of_an_overlay(component: Path) -> None:
    used = [
        path for path in (ROOT / "deploy" / "k8s" / "overlays").glob("*/kustomization.yaml")
        if f"components/{component.name}" in path.read_text()
    ]  # fmt: skip
    assert used


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_pod_keeps_the_restricted_standard_and_a_read_only_root(overlay: str) -> None:
    for name, pod in pods(overlay).items():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["runAsUser"] > 0, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod["automountServiceAccountToken"] is False, name
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, name
            assert container["resources"]["limits"]["memory"], name
    [namespace] = objects(overlay, "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert namespace["metadata"]["name"] == "biaswatch"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_pod_is_given_longer_to_end_than_its_service_takes(overlay: str) -> None:
    for name in BUS_SERVICES:
        pod = pods(overlay)[name]
        [container] = pod["containers"]
        env = {variable["name"]: variable["value"] for variable in container["env"]}
        takes_s = float(env["BIASWATCH_UNREADY_S"]) + float(env["BIASWATCH_GRACE_S"])
        assert pod["terminationGracePeriodSeconds"] > takes_s
        assert float(env["BIASWATCH_UNREADY_S"]) > container["readinessProbe"]["periodSeconds"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_connections_are_denied_unless_a_policy_allows_them(overlay: str) -> None:
    policies = {
        policy["metadata"]["name"]: policy["spec"] for policy in objects(overlay, "NetworkPolicy")
    }
    assert policies["nothing"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    outside = {
        name for name, spec in policies.items()
        for rule in spec.get("egress", ()) for to in rule.get("to", ())
        if "0.0.0.0/0" in to.get("ipBlock", {}).get("cidr", "")
    }  # fmt: skip
    by_choice = {
        "production-channels": {"channels": {"notifier"}},
        "production-backup": {"backup": {"backup"}},
        "production-files": {"answer-files": READ_FILES},
        "production-sign-in": {"sign-in": {"gateway"}},
    }
    expected = {"models": {"generator"}} | by_choice.get(overlay, {})
    assert {name: _named(policies[name]["podSelector"]) for name in outside} == expected


def _named(selector: dict[str, Any]) -> set[str]:
    """Return the names that a selector by name chooses."""
    label = "app.kubernetes.io/name"
    if "matchLabels" in selector:
        assert selector.keys() == {"matchLabels"}
        assert selector["matchLabels"].keys() == {label}
        return {selector["matchLabels"][label]}
    [one] = selector["matchExpressions"]
    assert (one["key"], one["operator"]) == (label, "In")
    return set(one["values"])


def test_scalers_read_durables_that_exist() -> None:
    known = {(durable.stream, durable.name) for durable in durables()}
    used = [
        (trigger["metadata"]["stream"], trigger["metadata"]["consumer"])
        for scaler in objects("production", "ScaledObject")
        for trigger in scaler["spec"]["triggers"]
        if trigger["type"] == "nats-jetstream"
    ]
    assert used
    assert set(used) <= known
    assert {stream for stream, _ in used} <= {stream.name for stream in streams(StreamLimits())}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_deleting_an_overlay_takes_nothing_from_other_namespaces(overlay: str) -> None:
    everywhere = {
        f"{resource['kind']} {resource['metadata']['name']}"
        for resource in objects(overlay)
        if "namespace" not in resource["metadata"]
    }
    assert everywhere == {"Namespace biaswatch"}


def test_tools_that_prune_keep_the_definitions() -> None:
    shared = [resource for resource in yaml.safe_load_all(rendered_cluster()) if resource]
    kinds = {"CustomResourceDefinition", "ClusterRole", "PriorityClass"}
    assert {resource["kind"] for resource in shared} == kinds
    for resource in shared:
        if resource["kind"] == "CustomResourceDefinition":
            assert resource["metadata"]["annotations"] == {
                "helm.sh/resource-policy": "keep",
                "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
                "kustomize.toolkit.fluxcd.io/prune": "disabled",
            }
    classes = {r["metadata"]["name"] for r in shared if r["kind"] == "PriorityClass"}
    assert {pod["priorityClassName"] for pod in pods("production").values()} == classes


def test_scalers_read_the_bus_of_their_own_namespace(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "deploy" / "k8s", tmp_path / "k8s")
    path = tmp_path / "team" / "kustomization.yaml"
    path.parent.mkdir()
    path.write_text("namespace: team-a\nresources: [../k8s/overlays/production]\n")
    built = run("kubectl", "kustomize", str(path.parent)).stdout
    scalers = [
        resource for resource in yaml.safe_load_all(built) if resource["kind"] == "ScaledObject"
    ]
    for scaler in [*scalers, *objects("production", "ScaledObject")]:
        namespace = scaler["metadata"]["namespace"]
        for trigger in scaler["spec"]["triggers"]:
            known = trigger["metadata"]
            if trigger["type"] == "nats-jetstream":
                address = f"nats-headless.{namespace}.svc.cluster.local:8222"
                assert known["natsServerMonitoringEndpoint"] == address
            else:
                assert f'namespace="{namespace}"' in known["query"]
    assert {scaler["metadata"]["namespace"] for scaler in scalers} == {"team-a"}


@pytest.mark.parametrize("overlay", ["production", "production-gpu"])
def test_a_fallback_is_no_fewer_than_the_least_number_of_replicas(overlay: str) -> None:
    for scaler in objects(overlay, "ScaledObject"):
        spec = scaler["spec"]
        assert spec["fallback"]["replicas"] == max(1, spec["minReplicaCount"])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_two_servers_of_the_bus_never_share_a_node(overlay: str) -> None:
    [bus] = [o for o in objects(overlay, "StatefulSet") if o["metadata"]["name"] == "nats"]
    by_node = bus["spec"]["template"]["spec"]["topologySpreadConstraints"][0]
    # With fewer nodes than minDomains, the least number on a node counts as 0.
    assert by_node["minDomains"] == bus["spec"]["replicas"]
    assert (by_node["maxSkew"], by_node["whenUnsatisfiable"]) == (1, "DoNotSchedule")


def test_a_gpu_extractor_runs_existing_extractors_and_scales_to_zero() -> None:
    [container] = pods("production-gpu")["extractor"]["containers"]
    env = {variable["name"]: variable["value"] for variable in container["env"]}
    names = set(env["BIASWATCH_EXTRACTOR_NAMES"].split(","))
    assert names <= set(MODULES)
    assert names > set(ExtractorSettings.model_fields["extractor_names"].default.split(","))
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
    least = {
        scaler["metadata"]["name"]: scaler["spec"]["minReplicaCount"]
        for scaler in objects("production-gpu", "ScaledObject")
    }
    assert least["extractor"] == 0


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_apply_leaves_replicas_to_the_autoscaler_and_has_no_job(overlay: str) -> None:
    assert not objects(overlay, "Job")
    for deployment in objects(overlay, "Deployment"):
        assert "replicas" not in deployment["spec"], deployment["metadata"]["name"]
    scalers = objects(overlay, "ScaledObject", "HorizontalPodAutoscaler")
    names = [scaler["spec"]["scaleTargetRef"]["name"] for scaler in scalers]
    assert len(names) == len(set(names))
    # The searcher reads the store alone: no queue of the bus tells that it has too much to do.
    assert not names or set(BUS_SERVICES) - {"searcher"} <= set(names)


def test_the_plain_overlay_needs_no_operator() -> None:
    kinds = {f"{resource['apiVersion']} {resource['kind']}" for resource in objects("plain")}
    assert not kinds & CUSTOM.keys()
    assert {"nats", "postgres"} <= pods("plain").keys()


def test_the_development_overlay_fits_a_node_of_two_cores() -> None:
    requests = [
        container["resources"]["requests"]["cpu"]
        for pod in pods("dev").values()
        for container in pod["containers"]
    ]
    cores = sum(float(cpu.removesuffix("m")) / 1000 for cpu in requests)
    assert cores < 1.5, requests


def test_production_builds_with_our_database_too(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "deploy" / "k8s", tmp_path / "k8s")
    path = tmp_path / "k8s" / "overlays" / "production" / "kustomization.yaml"
    path.write_text(path.read_text().replace("components/own-database", "components/postgres"))
    output = clean("kubectl", "kustomize", str(path.parent))
    assert "name: postgres" in output
    path.write_text(
        path.read_text().replace(
            "  - ../../components/nats\n",
            "  - ../../components/nats\n  - ../../components/own-database\n",
        )
    )
    clean("kubectl", "kustomize", str(path.parent))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_changed_setting_rolls_the_pods_out(overlay: str) -> None:
    maps = objects(overlay, "ConfigMap")
    [settings] = [m["metadata"]["name"] for m in maps if "BIASWATCH_NATS_URL" in m["data"]]
    assert re.fullmatch(r"biaswatch-[a-z0-9]{10}", settings)
    for service in BUS_SERVICES:
        [container] = pods(overlay)[service]["containers"]
        assert container["envFrom"] == [{"configMapRef": {"name": settings}}]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_database_is_open_to_users_of_the_store_and_not_to_drop_ins(overlay: str) -> None:
    client = {"biaswatch.io/store": "client"}
    for policy in objects(overlay, "NetworkPolicy"):
        ports = [
            port["port"]
            for rule in (*policy["spec"].get("egress", ()), *policy["spec"].get("ingress", ()))
            for port in rule.get("ports", ())
        ]
        if 5432 in ports:
            chosen = policy["spec"]["podSelector"]["matchLabels"]
            callers = [
                peer["podSelector"]["matchLabels"]
                for rule in policy["spec"].get("ingress", ())
                for peer in rule["from"]
            ]
            assert client in (chosen, *callers)
            assert {"biaswatch.io/bus": "client"} not in (chosen, *callers)
