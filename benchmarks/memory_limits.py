"""The kernel's limits on the memory of single processes, as containers have them; needs root."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.deployment.services import spec_of

MIB_IN = {"Mi": 1, "Gi": 1024}
GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class MemoryGroup:
    """A control group that one process lives in."""

    folder: Path

    @property
    def started_inside(self) -> Sequence[str]:
        """What stands before a command so that it runs inside the group from its first page on."""
        return ("sh", "-c", f'echo $$ > {self.folder}/cgroup.procs && exec "$@"', "sh")

    @property
    def killed(self) -> int:
        """How many processes the kernel has ended here for want of memory."""
        for name in ("memory.events", "memory.oom_control"):
            if (file := self.folder / name).exists():
                words = dict(line.split() for line in file.read_text().splitlines())
                return int(words.get("oom_kill", 0))
        return 0


def deployed_limit_mib(service: str) -> int:
    """Return what `deploy/k8s` allows a service."""
    return mib_of(spec_of(service).memory[1])


def mib_of(limit: str) -> int:
    """Read a limit as Kubernetes writes it: `384Mi`, `2Gi`."""
    return int(limit[:-2]) * MIB_IN[limit[-2:]]


@contextmanager
def memory_groups(limits_mib: Mapping[str, int]) -> Iterator[dict[str, MemoryGroup]]:
    """Make a group for each name, with its limit and no swap; remove them at the end."""
    parent = GROUPS / "memory" if (GROUPS / "memory").is_dir() else GROUPS
    old = parent != GROUPS  # the first version of the kernel's control groups
    made: dict[str, MemoryGroup] = {}
    try:
        for name, mib in limits_mib.items():
            folder = parent / f"biaswatch-{os.getpid()}-{name}"
            folder.mkdir()
            made[name] = MemoryGroup(folder)
            limit = "memory.limit_in_bytes" if old else "memory.max"
            (folder / limit).write_text(str(mib * 1024 * 1024))
        yield made
    except PermissionError as error:
        sys.exit(f"Limits on memory are made by root: {error}.")
    finally:
        for group in made.values():
            if group.folder.exists():
                group.folder.rmdir()
