"""Kubernetes workloads as pods for podman 4.3, which lacks StatefulSets, Secrets and probes.

A workload becomes one Pod, or the init container of one that has some. A Service becomes a name on
the network, and every volume a folder that belongs to the pod's user. Security contexts are kept.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Object = dict[str, Any]
KINDS = ("Deployment", "StatefulSet")
# No ports: podman would take them on this machine, too.
KEPT = ("image", "command", "args", "resources", "securityContext")
OWN_IMAGES = "biaswatch-"
USER_NAMES = "user-names"
"""The volume with an /etc/passwd: podman's own names a pod's user, containerd has none."""


@dataclass(frozen=True)
class PodPlan:
    """A pod for podman, its names on the network, and the files of its volumes."""

    name: str
    aliases: tuple[str, ...]
    pod: Object
    folders: Mapping[Path, Mapping[str, str]]
    user: int


@dataclass(frozen=True)
class PodReferences:
    """Settings, secrets and services that the pods refer to."""

    settings: Mapping[str, Mapping[str, str]]
    secrets: Mapping[str, Mapping[str, str]]
    services: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, objects: Iterable[Object]) -> "PodReferences":
        """Gather from the objects of an overlay and of its Secrets."""
        settings, secrets, services = {}, {}, {}
        for item in objects:
            name = item["metadata"]["name"]
            if item["kind"] == "ConfigMap":
                settings[name] = item["data"]
            elif item["kind"] == "Secret":
                secrets[name] = item["stringData"]
            elif item["kind"] == "Service":
                services[name] = item["spec"]["selector"]
        return cls(settings, secrets, services)


def plans(objects: list[Object], folder: Path) -> Iterator[PodPlan]:
    """Return a pod for each workload; its volumes will be folders in this one.

    The operator needs the API of Kubernetes, which podman lacks: it is left out.
    """
    references = PodReferences.of(objects)
    for item in objects:
        if item["kind"] in KINDS and item["metadata"]["name"] != "operator":
            yield _plan(item, references, folder)


def _plan(workload: Object, references: PodReferences, folder: Path) -> PodPlan:
    name, template = workload["metadata"]["name"], workload["spec"]["template"]
    spec, labels = template["spec"], template["metadata"]["labels"]
    own = folder / name
    claims = [claim["metadata"] for claim in workload["spec"].get("volumeClaimTemplates", ())]
    volumes = [*spec["volumes"], *claims]
    prepares = "initContainers" in spec
    containers = spec["initContainers" if prepares else "containers"]
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "restartPolicy": "OnFailure" if prepares else "Always",
            "terminationGracePeriodSeconds": spec.get("terminationGracePeriodSeconds", 30),
            "securityContext": spec["securityContext"],
            "containers": [_container(container, references, name) for container in containers],
            "volumes": [_volume(volume["name"], own) for volume in volumes],
        },
    }
    aliases = [
        service
        for service, chosen in references.services.items()
        if chosen.items() <= labels.items()
    ]
    folders = {own / volume["name"]: _files(volume, references) for volume in volumes}
    if pod["spec"]["containers"][0]["image"].startswith(f"localhost/{OWN_IMAGES}"):
        folders[own / USER_NAMES] = {"passwd": "root:x:0:0:root:/root:/bin/sh\n"}
        _without_a_name(pod["spec"], own)
    return PodPlan(name, tuple(aliases), pod, folders, spec["securityContext"]["runAsUser"])


def _without_a_name(spec: Object, folder: Path) -> None:
    path = {"path": str(folder / USER_NAMES / "passwd"), "type": "File"}
    spec["volumes"].append({"name": USER_NAMES, "hostPath": path})
    for container in spec["containers"]:
        mount = {"name": USER_NAMES, "mountPath": "/etc/passwd", "readOnly": True}
        container["volumeMounts"].append(mount)


def _volume(name: str, folder: Path) -> Object:
    return {"name": name, "hostPath": {"path": str(folder / name), "type": "Directory"}}


def _files(volume: Object, references: PodReferences) -> Mapping[str, str]:
    """Return the files of a volume; folders that a pod writes to are empty."""
    if "configMap" in volume:
        return references.settings[volume["configMap"]["name"]]
    if "secret" in volume:
        files = references.secrets[volume["secret"]["secretName"]]
        chosen = volume["secret"].get("items")
        return {item["path"]: files[item["key"]] for item in chosen} if chosen else files
    return {}


def _container(container: Object, references: PodReferences, pod: str) -> Object:
    kept = {key: container[key] for key in KEPT if key in container}
    env = _environment(container, references, pod)
    if "args" in kept:
        # podman does not put variables into arguments.
        kept["args"] = [_filled(argument, env) for argument in kept["args"]]
    mounts = container["volumeMounts"]
    # A folder inside another one's mount must come after it.
    ordered = sorted(mounts, key=lambda mount: len(mount["mountPath"]))
    listed = [{"name": name, "value": value} for name, value in env.items()]
    image = f"localhost/{container['image']}"
    return {
        "name": container["name"], **kept, "image": image, "env": listed, "volumeMounts": ordered,
    }  # fmt: skip


def _environment(container: Object, references: PodReferences, pod: str) -> dict[str, str]:
    env: dict[str, str] = {}
    for settings in container.get("envFrom", ()):
        env |= references.settings[settings["configMapRef"]["name"]]
    for variable in container.get("env", ()):
        source = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        if source not in (None, "metadata.name"):
            raise ValueError(f"{pod} asks for its {source}, which this translation does not know.")
        env[variable["name"]] = pod if source else variable["value"]
    return env


def _filled(text: str, env: Mapping[str, str]) -> str:
    for name, value in env.items():
        text = text.replace(f"$({name})", value)
    return text
