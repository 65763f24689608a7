"""The pods that podman runs are those of the workloads."""

from pathlib import Path

import yaml

from tests.support.manifests import objects, pods
from tests.support.pods import PodPlan, plans
from tools.deploy_secrets import certificates, kubernetes, write_secrets


def planned(folder: Path) -> dict[str, PodPlan]:
    secrets = folder / "secrets"
    write_secrets(secrets, "postgres")
    certificates(secrets)
    resources = [*objects("dev"), *yaml.safe_load_all(kubernetes(secrets))]
    return {plan.name: plan for plan in plans(resources, folder / "volumes")}


def test_every_workload_becomes_a_pod_with_its_security_contexts(tmp_path: Path) -> None:
    planned_pods, workloads = planned(tmp_path), pods("dev")
    del workloads["operator"]  # it talks to the API of Kubernetes
    assert set(planned_pods) == set(workloads)
    for name, spec in workloads.items():
        pod = planned_pods[name].pod["spec"]
        assert pod["securityContext"] == spec["securityContext"]
        workload_containers = spec.get("initContainers") or spec["containers"]
        for container, source in zip(pod["containers"], workload_containers, strict=True):
            assert container["securityContext"] == source["securityContext"]
            assert container["image"] == f"localhost/{source['image']}"


def test_a_service_is_a_name_of_its_pod(tmp_path: Path) -> None:
    planned_pods = planned(tmp_path)
    assert set(planned_pods["nats"].aliases) == {"nats", "nats-headless"}
    assert planned_pods["gateway"].aliases == ("gateway",)


def test_a_pod_sees_its_own_secrets_and_settings(tmp_path: Path) -> None:
    recorder = planned(tmp_path)["recorder"]
    files = {path.name: set(held) for path, held in recorder.folders.items()}
    assert files == {
        "tmp": set(), "secrets": {"nats.seed", "biaswatch_store_url"}, "nats-ca": {"ca.crt"},
        "user-names": {"passwd"},
    }  # fmt: skip
    [container] = recorder.pod["spec"]["containers"]
    env = {variable["name"]: variable["value"] for variable in container["env"]}
    assert env["BIASWATCH_NATS_URL"] == "tls://nats:4222"
    assert env["BIASWATCH_GRACE_S"] == "30"


def test_arguments_have_their_variables(tmp_path: Path) -> None:
    job = planned(tmp_path)["provision"].pod["spec"]
    assert job["containers"][0]["args"] == ["--replicas", "1", "--wait-s", "600"]
    assert job["restartPolicy"] == "OnFailure"
