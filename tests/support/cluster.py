"""The platform on whatever cluster KUBECONFIG names, driven by kubectl as a person drives it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from tests.support.manifests import ROOT, SERVICES

NAMESPACE = "biaswatch-test"
MINUTE_S = 60.0
PATIENCE_S = 15 * MINUTE_S
"""Nodes may have to fetch every image first."""
DEFINITIONS = ("biasmonitors", "biassuites", "biasruns", "biassearches")
UNREACHABLE = "http://127.0.0.1:9"
"""An address without a server."""
OURS = "app.kubernetes.io/part-of=biaswatch"
Object = dict[str, Any]


def why_no_cluster() -> str | None:
    """Return why no cluster can be used; None where one can."""
    if not os.environ.get("KUBECONFIG"):
        return "no cluster: set KUBECONFIG, or `python tools/cluster.py` with kind, k3d or minikube"
    if shutil.which("kubectl") is None:
        return "no cluster: kubectl is not installed"
    done = kubectl("get", "nodes", "--request-timeout=20s", check=False)
    return None if done.returncode == 0 else f"no cluster: {done.stderr.strip()[-300:]}"


def kubectl(
    *words: str, stdin: str | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run kubectl; raise an AssertionError with its output where it fails."""
    done = subprocess.run(
        ["kubectl", *words], input=stdin, capture_output=True, text=True, check=False
    )
    if check and done.returncode:
        raise AssertionError(f"kubectl {' '.join(words)}: {done.stderr.strip()[-3000:]}")
    return done


def objects_of(*words: str) -> list[Object]:
    """Return the objects that kubectl gets."""
    answer = json.loads(kubectl("get", *words, "-o", "json").stdout)
    items: list[Object] = answer.get("items", [answer])
    return items


def wait_until(condition: Callable[[], object], what: str, patience_s: float = PATIENCE_S) -> Any:
    """Return the first true value of a condition."""
    deadline = time.monotonic() + patience_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come about in {patience_s:g} s")
        time.sleep(2)
    return value


class InstalledPlatform:
    """The development overlay in a namespace of the test's own."""

    def __init__(self, folder: Path, namespace: str = NAMESPACE) -> None:
        self.namespace = namespace
        self.secrets = folder / "secrets"
        self._folder = folder
        self._forward: subprocess.Popen[bytes] | None = None
        self._url = ""

    def kubectl(self, *words: str, stdin: str | None = None, check: bool = True) -> str:
        """Run kubectl in the namespace; return what it printed."""
        return kubectl("--namespace", self.namespace, *words, stdin=stdin, check=check).stdout

    def make_namespace(self) -> None:
        """Create the namespace, which must not exist, the Secrets in it, and the definitions."""
        kubectl("apply", "-k", str(ROOT / "deploy" / "k8s" / "cluster"))
        if kubectl("get", "namespace", self.namespace, check=False).returncode == 0:
            pytest.fail(
                f"The namespace {self.namespace} exists. Delete it first:"
                f" kubectl delete namespace {self.namespace}"
            )
        labels = {
            "pod-security.kubernetes.io/enforce": "restricted",
            "biaswatch.io/gateway": "client",
        }
        meta = {"name": self.namespace, "labels": labels}
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
        kubectl("apply", "-f", "-", stdin=json.dumps(body))
        words = [sys.executable, "-m", "tools.deploy_secrets", str(self.secrets), "--kubernetes"]
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
        self.kubectl("apply", "-f", str(self.secrets / "kubernetes.yaml"))

    def apply(self, log_level: str = "INFO") -> str:
        """Apply the overlay with this setting; return what kubectl printed."""
        done = kubectl("apply", "-k", str(self._overlay(log_level)))
        return done.stdout + done.stderr

    def _overlay(self, log_level: str) -> Path:
        """Write an overlay on the development overlay: namespace, images, one setting."""
        folder = self._folder / "overlay"
        if not folder.exists():
            shutil.copytree(ROOT / "deploy" / "k8s", self._folder / "k8s")
            folder.mkdir()
        level = {"op": "replace", "path": "/data/BIASWATCH_LOG_LEVEL", "value": log_level}
        chosen = {"kind": "ConfigMap", "name": "biaswatch"}
        written = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": self.namespace,
            "resources": ["../k8s/overlays/dev"],
            "images": image_names(),
            "patches": [{"target": chosen, "patch": yaml.safe_dump([level])}],
        }
        (folder / "kustomization.yaml").write_text(yaml.safe_dump(written))
        return folder

    def rendered(self, log_level: str = "INFO") -> list[Object]:
        """Return the objects of the overlay; no cluster is needed."""
        text = kubectl("kustomize", str(self._overlay(log_level))).stdout
        return [resource for resource in yaml.safe_load_all(text) if resource]

    def until_rolled_out(self) -> None:
        """Return once every workload runs as it was applied last."""
        workloads = self.kubectl("get", "statefulsets,deployments", "-o", "name").split()

        def rolled_out(name: str) -> bool:
            words = ("rollout", "status", name, "--timeout=60s")
            return kubectl("--namespace", self.namespace, *words, check=False).returncode == 0

        for name in workloads:
            try:
                wait_until(partial(rolled_out, name), f"{name} as it was applied")
            except AssertionError as late:
                raise AssertionError(f"{late}{self.state()}") from None

    def state(self) -> str:
        """Return the pods and the last events."""
        pods = self.kubectl("get", "pods", "-o", "wide", check=False)
        events = self.kubectl("get", "events", "--sort-by=.lastTimestamp", check=False)
        return f"\n{pods}\n{events[-6000:]}"

    def ask(self, path: str, body: object = None) -> Any:
        """Ask the gateway under the run token; restart a broken forwarding."""
        token = (self.secrets / "biaswatch_gateway_run_token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}

        def reply() -> httpx2.Response | None:
            url, verb = self._forwarded(), "GET" if body is None else "POST"
            try:
                answer = httpx2.request(verb, url + path, json=body, headers=headers, timeout=60)
            except httpx2.HTTPError:
                self._stop_forwarding()
                return None
            return None if answer.status_code in {502, 503, 504} else answer

        answer = wait_until(reply, f"a reply of the gateway to {path}", 5 * MINUTE_S)
        assert answer.is_success, answer.text
        return answer.json()

    def _forwarded(self) -> str:
        """Return the local address of the gateway; the forwarding logs to a file."""
        if self._forward is not None and self._forward.poll() is None:
            return self._url
        log = self._folder / "forwarding.txt"
        words = ["kubectl", "--namespace", self.namespace, "port-forward", "service/gateway"]
        with log.open("w") as out:
            self._forward = subprocess.Popen([*words, ":8080"], stdout=out, stderr=out)
        deadline = time.monotonic() + MINUTE_S
        # Forwarding from 127.0.0.1:40123 -> 8080
        while not (match := re.search(r"127\.0\.0\.1:(\d+) ->", log.read_text())):
            if self._forward.poll() is not None or time.monotonic() > deadline:
                self._stop_forwarding()
                return UNREACHABLE
            time.sleep(0.2)
        self._url = f"http://127.0.0.1:{match[1]}"
        return self._url

    def _stop_forwarding(self) -> None:
        if self._forward is not None:
            self._forward.kill()
            self._forward.wait()
            self._forward = None
            time.sleep(1)

    def generations(self) -> dict[str, Any]:
        """Return the generation or version of every object, by kind and name."""
        kinds = (
            "deployment,statefulset,configmap,service,serviceaccount,networkpolicy,"
            "poddisruptionbudget,role,rolebinding"
        )
        return {
            f"{item['kind']}/{item['metadata']['name']}": item["metadata"].get("generation")
            or item["metadata"]["resourceVersion"]
            for item in objects_of("--namespace", self.namespace, kinds, "-l", OURS)
        }

    def remove(self) -> None:
        """Delete resources, then the namespace; cluster-wide objects stay."""
        self._stop_forwarding()
        if os.environ.get("BIASWATCH_CLUSTER_KEEP"):
            return
        for plural in DEFINITIONS:
            self.kubectl("delete", plural, "--all", "--timeout=120s", check=False)
            for name in self.kubectl("get", plural, "-o", "name", check=False).split():
                nothing = '{"metadata":{"finalizers":null}}'
                self.kubectl("patch", name, "--type=merge", "-p", nothing, check=False)
        kubectl("delete", "namespace", self.namespace, "--timeout=300s", check=False)


def image_names() -> list[dict[str, str]]:
    """Return where the images are: BIASWATCH_CLUSTER_IMAGES is a prefix, ..._TAG a tag."""
    prefix = os.environ.get("BIASWATCH_CLUSTER_IMAGES", "")
    tag = os.environ.get("BIASWATCH_CLUSTER_TAG", "dev")
    images = [
        {"name": f"biaswatch-{name}", "newName": f"{prefix}biaswatch-{name}", "newTag": tag}
        for name in SERVICES
    ]
    others = {"nats": "BIASWATCH_CLUSTER_NATS", "postgres": "BIASWATCH_CLUSTER_POSTGRES"}
    named = [(name, os.environ.get(variable, "")) for name, variable in others.items()]
    return images + [
        {"name": name, "newName": image.rpartition(":")[0] or image,
         "newTag": image.rpartition(":")[2] if ":" in image else "latest"}
        for name, image in named if image
    ]  # fmt: skip


@contextmanager
def cordoned(node: str) -> Iterator[None]:
    """Drain a node of our pods alone; uncordon it afterwards in any case."""
    try:
        kubectl(
            "drain", node, "--ignore-daemonsets", "--delete-emptydir-data",
            f"--pod-selector={OURS}", "--timeout=300s",
        )  # fmt: skip
        yield
    finally:
        kubectl("uncordon", node)


def drainable(namespace: str) -> str | None:
    """Return a node that can be drained: it is not the only one and has no bound volume."""
    nodes = [
        node["metadata"]["name"] for node in objects_of("nodes")
        if not node["spec"].get("unschedulable") and not _refuses(node["spec"].get("taints", ()))
    ]  # fmt: skip
    pods = objects_of("--namespace", namespace, "pods")
    bound = {
        pod["spec"].get("nodeName") for pod in pods
        if any(o["kind"] == "StatefulSet" for o in pod["metadata"].get("ownerReferences", ()))
    }  # fmt: skip
    used = {pod["spec"].get("nodeName") for pod in pods}
    free = sorted(node for node in nodes if node in used and node not in bound)
    return free[0] if free and len(nodes) > 1 else None


def _refuses(taints: Sequence[Object]) -> bool:
    return any(taint["effect"] in {"NoSchedule", "NoExecute"} for taint in taints)
