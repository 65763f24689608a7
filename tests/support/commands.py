"""The command line as a person uses it: processes of their own, on a state directory of their own.

A fork server loads the platform once, and every command is a fork of it: starting hundreds of
commands would otherwise be most of what the tests do. `tests/e2e/test_demo.py` starts one the long
way.
"""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.support.waiting import PATIENCE_S, until


class RunningCommand:
    """A command under way, with the part of `subprocess.Popen` that tests need."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], near: Path) -> None:
        self._words = words
        folder = Path(tempfile.mkdtemp(prefix="said-", dir=near))
        self._said = [folder / name for name in ("stdout", "stderr")]
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tests.support.preloaded"])
        arguments = (list(words), dict(environment), str(Path.cwd()), [str(p) for p in self._said])
        self._process: Any = context.Process(target=_command, args=arguments)
        self._process.start()

    @property
    def pid(self) -> int:
        """The process."""
        return int(self._process.pid)

    @property
    def returncode(self) -> int | None:
        """Its exit code, once it has ended."""
        code = self._process.exitcode
        return None if code is None else int(code)

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def printed(self) -> str:
        """Return what it has printed up to now."""
        return _read(self._said[0])

    def complained(self) -> str:
        """Return what it has written to standard error up to now."""
        return _read(self._said[1])

    def communicate(self, timeout: float = PATIENCE_S) -> tuple[str, str]:
        """Wait for its end; give what it printed and what it complained of."""
        self._process.join(timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired(list(self._words), timeout, *map(_read, self._said))
        out, err = map(_read, self._said)
        return out, err


class CommandLine:
    """Runs `biaswatch` with one state directory and one environment."""

    def __init__(self, state: Path, **environment: str) -> None:
        self.state = state
        self._environment = {
            **os.environ,
            "BIASWATCH_STATE_DIR": str(state),
            "COLUMNS": "150",
            **environment,
        }

    def set(self, **environment: str) -> None:
        """Change the environment of the commands that come."""
        self._environment.update(environment)

    def without(self, ending: str) -> "CommandLine":
        """Leave out the variables whose names end so, which are the tester's own; give itself."""
        variables = self._environment.items()
        self._environment = {name: v for name, v in variables if not name.endswith(ending)}
        return self

    def __call__(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        started = self.start(*words)
        try:
            out, err = started.communicate()
        except subprocess.TimeoutExpired:
            started.kill()
            raise
        return subprocess.CompletedProcess(list(words), started.returncode or 0, out, err)

    def start(self, *words: str) -> RunningCommand:
        """Start a command, and let it run."""
        return RunningCommand(words, self._environment, self.state.parent)

    @contextmanager
    def up(self, *words: str) -> Iterator[RunningCommand]:
        """Keep the platform up while the context lasts."""
        process = self.start("up", "--port", "0", *words)
        try:
            until(lambda: (self.state / "platform.json").exists() or process.poll() is not None)
            assert process.poll() is None, process.communicate()[1]
            yield process
        finally:
            process.terminate()
            process.communicate()

    def bus(self) -> str:
        """Return the address of the bus of the platform that is up."""
        return str(json.loads((self.state / "platform.json").read_text())["nats_url"])


def _command(
    words: list[str], environment: dict[str, str], folder: str, outputs: list[str]
) -> None:
    """Be the command, in a process of its own."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    sys.argv = ["biaswatch", *words]
    import_module("biaswatch.main").main()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
