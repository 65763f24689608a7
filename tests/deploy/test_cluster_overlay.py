"""The tests of a cluster apply objects in a namespace of their own; no cluster is needed."""

from pathlib import Path

import pytest

from tests.support.cluster import InstalledPlatform
from tests.support.manifests import SERVICES, run


def test_all_objects_are_in_a_namespace_of_their_own_with_the_named_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("kubectl", "version", "--client")  # skips where there is none
    monkeypatch.setenv("BIASWATCH_CLUSTER_IMAGES", "registry.example.com/team/")
    monkeypatch.setenv("BIASWATCH_CLUSTER_TAG", "0.2.0")
    monkeypatch.setenv("BIASWATCH_CLUSTER_NATS", "registry.example.com/nats:2")
    platform = InstalledPlatform(tmp_path)
    resources = platform.rendered()
    spaces = {o["metadata"].get("namespace") for o in resources if o["kind"] != "Namespace"}
    assert spaces == {platform.namespace}
    assert [o["metadata"]["name"] for o in resources if o["kind"] == "Namespace"] == [
        platform.namespace
    ]
    images = {
        container["image"]
        for workload in resources if workload["kind"] in {"Deployment", "StatefulSet"}
        for container in workload["spec"]["template"]["spec"]["containers"]
    }  # fmt: skip
    service_images = {f"registry.example.com/team/biaswatch-{name}:0.2.0" for name in SERVICES}
    assert images == service_images | {"registry.example.com/nats:2", "postgres:17-alpine"}


def test_only_a_changed_setting_changes_the_pods(tmp_path: Path) -> None:
    run("kubectl", "version", "--client")
    platform = InstalledPlatform(tmp_path)
    before, again = platform.rendered(), platform.rendered()
    assert before == again
    changed = platform.rendered(log_level="DEBUG")
    differ = {one["kind"] for one in changed if one not in before}
    assert differ == {"ConfigMap", "Deployment"}
