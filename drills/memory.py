"""The processes below another one: their peaks of memory, and which of them are left over."""

import os
import re
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.measuring import memory_mib
from tests.support.processes import command_line

LOOK_S, GRACE_S = 0.3, 20.0
FORK_SERVER = "command line"
PROGRAMS = (
    (re.compile(r"biaswatch\.services\.(\w+)\.app"), None),
    (re.compile(r"tests\.support\.shifted_service\0(\w+)"), None),
    (re.compile(r"nats-server"), "nats-server"),
    (re.compile(r"postgres"), "postgresql"),
    (re.compile(r"moto_server"), "s3"),
    (re.compile(r"forkserver"), FORK_SERVER),
)


def program_of(command: str) -> str:
    """Return the service or program that a command line starts, or ""."""
    for pattern, name in PROGRAMS:
        if match := pattern.search(command):
            return name or match[1]
    return ""


def descendants(pid: int) -> list[int]:
    """Return all processes below a process."""
    result: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, path.read_text().split()):
                result += [child, *descendants(child)]
    return result


class PeakWatch:
    """Looks at all processes below one of them in a thread, while the context lasts.

    The kernel counts the peak of each process; one that peaks and ends between two looks is missed.
    """

    def __init__(self, pid: int) -> None:
        self.peaks_mib: dict[str, float] = {}
        self._pid, self._over = pid, threading.Event()
        self._seen: dict[int, str] = {}
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "PeakWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            for pid in descendants(self._pid):
                with suppress(OSError, ValueError):
                    self._look_at(pid)

    def _look_at(self, pid: int) -> None:
        command = command_line(pid)
        if program := program_of(command):
            self._seen[pid] = command
            peak = memory_mib(pid)
            self.peaks_mib[program] = max(peak, self.peaks_mib.get(program, 0.0))

    def kill_the_rest(self) -> list[str]:
        """Kill the processes that are left after a while; return their programs.

        A fork server of commands is no program: it ends by itself, late on a busy machine.
        """
        deadline = time.monotonic() + GRACE_S
        while (left := self._left()) and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return sorted({program_of(self._seen[pid]) for pid in left} - {FORK_SERVER})

    def _left(self) -> list[int]:
        return [pid for pid, command in self._seen.items() if command and self._is(pid, command)]

    @staticmethod
    def _is(pid: int, command: str) -> bool:
        return command_line(pid) == command


def unmount_below(folder: Path) -> None:
    """Unmount the disks that a drill has left in its folder."""
    for line in Path("/proc/mounts").read_text().splitlines():
        place = line.split()[1]
        if place.startswith(f"{folder}/"):
            subprocess.run(["umount", "--lazy", place], check=False)
