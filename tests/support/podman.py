"""The rendered development overlay under podman: its own network, its pods, and their ends."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.support.containers import run, until
from tests.support.manifests import rendered
from tests.support.pods import PodPlan, plans

PROVISION_S = 300.0
"""A database makes its files first, on a machine that is busy with images."""

# A stand-in for the official image, whose script cannot run as the image's own user 70.
AS_ITSELF = r"""FROM postgres:17-alpine
RUN groupmod -g 70 postgres && usermod -u 70 postgres
RUN printf '%s\n' '#!/bin/sh' 'set -e' 'if [ ! -s "$PGDATA/PG_VERSION" ]; then' \
 'initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" -A scram-sha-256' \
 'echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"' \
 'echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA" postgres' 'fi' \
 'exec postgres -D "$PGDATA" -c listen_addresses="*" -c unix_socket_directories=/tmp' \
 >/as-itself && chmod 755 /as-itself
USER 70:70
ENTRYPOINT ["/as-itself"]
"""


def why_no_podman() -> str | None:
    """Say what is missing for these tests, if anything is."""
    if shutil.which("podman") is None:
        return "no `podman` command is installed"
    if os.geteuid() != 0:
        return "the folders of the pods must belong to their users, which takes root"
    if shutil.which("kubectl") is None:
        return "no `kubectl` command renders the overlay"
    return None


class Pods:
    """The pods of an overlay, running."""

    def __init__(self, network: str, plan: dict[str, PodPlan]) -> None:
        self.plan = plan
        self._network = network

    def container(self, pod: str) -> dict[str, Any]:
        """Return what podman knows of a pod's container."""
        [first, *_] = self.plan[pod].pod["spec"]["containers"]
        [result] = json.loads(run("podman", "inspect", f"{pod}-{first['name']}").stdout)
        return dict(result)

    def address(self, pod: str) -> str:
        """Return where this machine reaches a pod."""
        known = json.loads(run("podman", "pod", "inspect", pod).stdout)
        infra = known["InfraContainerID"]
        [result] = json.loads(run("podman", "inspect", infra).stdout)
        return str(result["NetworkSettings"]["Networks"][self._network]["IPAddress"])

    def crash(self, pod: str) -> None:
        """Kill a pod's process, as its own death: podman starts it again."""
        os.kill(self.container(pod)["State"]["Pid"], signal.SIGKILL)

    def play(self, pod: str, folder: Path) -> None:
        """Start one pod."""
        path = folder / f"{pod}.yaml"
        path.write_text(yaml.safe_dump(self.plan[pod].pod))
        names = "".join(f",alias={alias}" for alias in self.plan[pod].aliases)
        network = self._network + names.replace(",", ":", 1)
        run("podman", "play", "kube", "--network", network, str(path))

    def ended_well(self, pod: str) -> bool:
        """Tell whether a pod that ends has done so."""
        state = self.container(pod)["State"]
        return bool(state["Status"] == "exited" and state["ExitCode"] == 0)

    def logs(self) -> str:
        """Return what all pods have said."""
        results = [
            run("podman", "pod", "logs", "--tail", "40", pod, check=False) for pod in self.plan
        ]
        return "".join(item.stdout + item.stderr for item in results)


@contextmanager
def overlay(
    name: str, secrets: Path, folder: Path, more: Mapping[str, Mapping[str, str]]
) -> Iterator[Pods]:
    """Run an overlay's workloads: bus and database first, then what provisions, then the rest.

    `more` are settings by pod, as a patch in an overlay would add them.
    """
    objects = [item for item in yaml.safe_load_all(rendered(name)) if item]
    objects += yaml.safe_load_all((secrets / "kubernetes.yaml").read_text())
    planned = {plan.name: plan for plan in plans(objects, folder / "volumes")}
    for plan in planned.values():
        settings = more.get(plan.name, {}).items()
        env = [{"name": name, "value": value} for name, value in settings]
        plan.pod["spec"]["containers"][0]["env"] += env
        lend_image(plan)
        lay_out(plan)
    network = f"biaswatch-test-{os.getpid()}"
    run("podman", "network", "create", network)
    pods = Pods(network, planned)
    try:
        for pod in ("nats", "postgres"):
            pods.play(pod, folder)
        pods.play("provision", folder)
        _provisioned(pods)
        for pod in planned.keys() - {"nats", "postgres", "provision"}:
            pods.play(pod, folder)
        yield pods
    finally:
        for pod in planned:
            run("podman", "pod", "rm", "--force", "--time", "5", pod, check=False)
        run("podman", "network", "rm", "--force", network, check=False)


def _provisioned(pods: Pods) -> None:
    try:
        until(lambda: pods.ended_well("provision"), PROVISION_S)
    except TimeoutError:
        raise TimeoutError(f"Provisioning does not end well:\n{pods.logs()}") from None


def lay_out(plan: PodPlan) -> None:
    """Make the folders of a pod's volumes; they belong to its user alone."""
    for path, files in plan.folders.items():
        path.mkdir(parents=True)
        for name, text in files.items():
            (path / name).write_text(text)
        for item in (*path.iterdir(), path):
            os.chown(item, plan.user, plan.user)
            item.chmod(0o700 if item.is_dir() else 0o400)


def lend_image(plan: PodPlan) -> None:
    """Hand the Docker engine's image of a pod to podman."""
    for container in plan.pod["spec"]["containers"]:
        image = container["image"].removeprefix("localhost/")
        if image.startswith("postgres") and _stands_in(image):
            tag = "biaswatch-test-postgres:dev"
            _docker_build(tag, AS_ITSELF)
            image, container["image"] = tag, f"localhost/{tag}"
        with subprocess.Popen(["docker", "save", image], stdout=subprocess.PIPE) as saved:
            subprocess.run(["podman", "load", "--quiet"], stdin=saved.stdout, check=True)


def _stands_in(image: str) -> bool:
    words = ["docker", "image", "inspect", "--format", "{{.Config.Entrypoint}}", image]
    return "docker-entrypoint.sh" not in run(*words).stdout


def _docker_build(tag: str, text: str) -> None:
    words = ["docker", "build", "--quiet", "--tag", tag, "-"]
    subprocess.run(words, input=text.encode(), check=True, capture_output=True)
