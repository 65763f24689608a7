"""Processes as /proc shows them; any of them may end while it is read."""

from pathlib import Path


def command_line(pid: int) -> str:
    """Return the command line of a process, or "" if the process has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def children(parent: int, program: str) -> list[int]:
    """List the children of a process with this program or module in their command line."""
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    pids = [int(pid) for path in tasks for pid in path.read_text().split()]
    return [pid for pid in pids if program in command_line(pid)]
