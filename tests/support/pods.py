"""Kubernetes workloads as pods that podman 4.3 runs: it knows no StatefulSet, Secret or probe.

A workload becomes one Pod; of one that prepares and then rests, the preparation alone. A Service
becomes a name on the network; every volume becomes a folder that belongs to the pod's user. What
stands in the security contexts stays in force.
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
    """A pod for podman, the names it is found by, and the files its volumes hold."""

    name: str
    aliases: tuple[str, ...]
    pod: Object
    folders: Mapping[Path, Mapping[str, str]]
    user: int


@dataclass(frozen=True)
class PodReferences:
    """What the pods refer to: settings, secrets, and the names of services."""

    settings: Mapping[str, Mapping[str, str]]
    secrets: Mapping[str, Mapping[str, str]]
    services: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, objects: Iterable[Object]) -> "PodReferences":
        """Gather from the objects of an overlay and of its Secrets."""
        settings, found, services = {}, {}, {}
        for each in objects:
            name = each["metadata"]["name"]
            if each["kind"] == "ConfigMap":
                settings[name] = each["data"]
            elif each["kind"] == "Secret":
                found[name] = each["stringData"]
            elif each["kind"] == "Service":
                services[name] = each["spec"]["selector"]
        return cls(settings, found, services)


def plans(objects: list[Object], folder: Path) -> Iterator[PodPlan]:
    """Return a pod for each workload; its volumes will be folders in this one.

    The operator talks to the API of Kubernetes, which podman has not: it is left out.
    """
    references = PodReferences.of(objects)
    for each in objects:
        if each["kind"] in KINDS and each["metadata"]["name"] != "operator":
            yield _plan(each, references, folder)


def _plan(workload: Object, references: PodReferences, folder: Path) -> PodPlan:
    name, template = workload["metadata"]["name"], workload["spec"]["template"]
    spec, labels = template["spec"], template["metadata"]["labels"]
    mine = folder / name
    claims = [each["metadata"] for each in workload["spec"].get("volumeClaimTemplates", ())]
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
            "containers": [_container(each, references, name) for each in containers],
            "volumes": [_volume(each["name"], mine) for each in volumes],
        },
    }
    aliases = [
        service
        for service, chosen in references.services.items()
        if chosen.items() <= labels.items()
    ]
    folders = {mine / each["name"]: _files(each, references) for each in volumes}
    if pod["spec"]["containers"][0]["image"].startswith(f"localhost/{OWN_IMAGES}"):
        folders[mine / USER_NAMES] = {"passwd": "root:x:0:0:root:/root:/bin/sh\n"}
        _without_a_name(pod["spec"], mine)
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
    """Return what lies in a volume; folders that a pod writes to are empty."""
    if "configMap" in volume:
        return references.settings[volume["configMap"]["name"]]
    if "secret" in volume:
        files = references.secrets[volume["secret"]["secretName"]]
        chosen = volume["secret"].get("items")
        return {each["path"]: files[each["key"]] for each in chosen} if chosen else files
    return {}


def _container(container: Object, references: PodReferences, pod: str) -> Object:
    kept = {key: container[key] for key in KEPT if key in container}
    env = _environment(container, references, pod)
    if "args" in kept:
        # podman does not put variables into arguments.
        kept["args"] = [_filled(each, env) for each in kept["args"]]
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
    for each in container.get("envFrom", ()):
        env |= references.settings[each["configMapRef"]["name"]]
    for each in container.get("env", ()):
        source = each.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        if source not in (None, "metadata.name"):
            raise ValueError(f"{pod} asks for its {source}, which this translation does not know.")
        env[each["name"]] = pod if source else each["value"]
    return env


def _filled(text: str, env: Mapping[str, str]) -> str:
    for name, value in env.items():
        text = text.replace(f"$({name})", value)
    return text
