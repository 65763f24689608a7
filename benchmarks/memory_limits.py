"""The kernel's limits on the memory of single processes, as containers have them; needs root."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

MIB_IN = {"Mi": 1, "Gi": 1024}
GROUPS = Path("/sys/fs/cgroup")
CHART_VALUES = Path("deploy/helm/biaswatch/values.yaml")


@dataclass(frozen=True)
class MemoryGroup:
    """A control group of one process."""

    folder: Path

    @property
    def command_prefix(self) -> Sequence[str]:
        """Words before a command that start it inside the group."""
        return ("sh", "-c", f'echo $$ > {self.folder}/cgroup.procs && exec "$@"', "sh")

    @property
    def killed(self) -> int:
        """The number of processes that the kernel killed here for lack of memory."""
        for name in ("memory.events", "memory.oom_control"):
            if (file := self.folder / name).exists():
                words = dict(line.split() for line in file.read_text().splitlines())
                return int(words.get("oom_kill", 0))
        return 0


def deployed_limit_mib(service: str) -> int:
    """Return the memory limit of a service in `deploy/k8s`."""
    return mib_of(deployed(service)["resources"]["limits"]["memory"])


def deployed_environment(service: str) -> dict[str, str]:
    """Return the environment variables that `deploy/k8s` adds for one service."""
    return dict(deployed(service).get("env", {}))


def deployed(service: str) -> dict[str, Any]:
    """Return the entry of a service in the values of the chart."""
    values = yaml.safe_load(CHART_VALUES.read_text())
    entry: dict[str, Any] = (values["services"] | values)[service]
    return entry


def mib_of(limit: str) -> int:
    """Read a limit as Kubernetes writes it: `384Mi`, `2Gi`."""
    return int(limit[:-2]) * MIB_IN[limit[-2:]]


@contextmanager
def memory_groups(limits_mib: Mapping[str, int]) -> Iterator[dict[str, MemoryGroup]]:
    """Create a group for each name, with its limit and no swap; remove them at the end."""
    parent = GROUPS / "memory" if (GROUPS / "memory").is_dir() else GROUPS
    first_version = parent != GROUPS
    groups: dict[str, MemoryGroup] = {}
    try:
        for name, mib in limits_mib.items():
            folder = parent / f"biaswatch-{os.getpid()}-{name}"
            folder.mkdir()
            groups[name] = MemoryGroup(folder)
            limit = "memory.limit_in_bytes" if first_version else "memory.max"
            (folder / limit).write_text(str(mib * 1024 * 1024))
        yield groups
    except PermissionError as error:
        sys.exit(f"Limits on memory need root: {error}.")
    finally:
        for group in groups.values():
            if group.folder.exists():
                group.folder.rmdir()
