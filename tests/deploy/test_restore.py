"""The documented restore, command by command, on a model of what scales a cluster's services."""

import re
import shlex
from collections.abc import Iterator

from tests.support.manifests import ROOT

SERVICES = ("provision", "recorder", "gateway")
PAUSED = "autoscaling.keda.sh/paused"


class ScaledCluster:
    """Deployments, and KEDA or an HPA with at least two replicas of each service."""

    def __init__(self, *, keda: bool) -> None:
        self.replicas = dict.fromkeys(SERVICES, 1)
        self.keda, self.paused = keda, False
        self.scale()

    def scale(self) -> None:
        """Let the autoscaler act: KEDA scales from zero, and the HPA rests at zero."""
        for name in SERVICES[1:]:
            if (self.keda and not self.paused) or (not self.keda and self.replicas[name]):
                self.replicas[name] = max(2, self.replicas[name])

    def kubectl(self, *words: str) -> None:
        """Carry out a command."""
        match words:
            case ("scale", "deployment", name, replicas):
                number = int(replicas.removeprefix("--replicas="))
                chosen = SERVICES if name == "--all" else (name,)
                self.replicas |= dict.fromkeys(chosen, number)
            case ("annotate", "scaledobjects", "--all", annotation):
                assert annotation in {f"{PAUSED}=true", f"{PAUSED}-"}
                self.paused = annotation.endswith("=true")
            case ("wait", "--for=delete", "pod", _, _):
                assert not any(self.replicas.values()), "the pods would never end"
            case ("rollout", "status", "deployment/provision", _):
                assert self.replicas["provision"] == 1, "provisioning would never run"
            case _:
                raise AssertionError(f"an unknown command: {words}")
        self.scale()


def documented_restore() -> Iterator[list[str]]:
    """Return the words of each command of the page."""
    page = (ROOT / "docs" / "operations.md").read_text()
    block = page.split("To restore, first")[1].split("```")[1]
    for line in block.strip().splitlines():
        yield shlex.split(line, comments=True)


def test_the_documented_restore_provisions_and_brings_every_service_back() -> None:
    for keda in (True, False):
        cluster, provisioned, restored = ScaledCluster(keda=keda), False, False
        for command in documented_restore():
            if command[:3] == ["kubectl", "-n", "biaswatch"]:
                if not keda and "scaledobjects" in command:
                    continue
                cluster.kubectl(*command[3:])
                provisioned |= restored and "rollout" in command
            elif "restore" in command:
                assert not any(cluster.replicas.values()), "a service runs during the restore"
                restored = True
            if restored and any(cluster.replicas[name] for name in SERVICES[1:]):
                assert provisioned, "a service runs before the store is provisioned"
        assert restored
        assert cluster.replicas == {"provision": 1, "recorder": 2, "gateway": 2}
        assert not cluster.paused


def test_the_model_refuses_the_restore_of_earlier_pages() -> None:
    cluster = ScaledCluster(keda=True)
    cluster.kubectl("scale", "deployment", "--all", "--replicas=0")
    assert cluster.replicas["recorder"] == 2, "KEDA starts it during the restore"
    cluster = ScaledCluster(keda=False)
    cluster.kubectl("scale", "deployment", "--all", "--replicas=0")
    assert cluster.replicas == dict.fromkeys(SERVICES, 0)


def test_the_database_is_restored_by_the_script_in_its_pod() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    [line] = re.findall(r"kubectl .*sh -s restore (\S+) < (\S+)", page)
    assert line[0] == "/tmp/store.dump"  # noqa: S108 - in the pod
    assert (ROOT / line[1]).exists()
