"""The command line as a person uses it, on a state directory of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = Path(sys.executable).parent / "biaswatch"
PATIENCE_S = 60.0


class CommandLine:
    """Runs `biaswatch` with one state directory and one environment."""

    def __init__(self, state: Path, **environment: str) -> None:
        self.state = state
        self._environment = {
            **os.environ,  # noqa: TID251 - handed on to the command
            "BIASWATCH_STATE_DIR": str(state),
            "COLUMNS": "150",
            **environment,
        }

    def set(self, **environment: str) -> None:
        """Change the environment of the commands that come."""
        self._environment.update(environment)

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(  # noqa: S603 - our own command
            [COMMAND, *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
            env=self._environment,
        )

    def begin(self, *words: str) -> "subprocess.Popen[str]":
        """Begin a command, and let it run."""
        return subprocess.Popen(  # noqa: S603 - our own command
            [COMMAND, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment,
        )

    @contextmanager
    def up(self, *words: str) -> Iterator["subprocess.Popen[str]"]:
        """Keep the platform up while the context lasts."""
        process = self.begin("up", "--port", "0", *words)
        try:
            until(lambda: (self.state / "house.json").exists() or process.poll() is not None)
            assert process.poll() is None, process.communicate()[1]  # noqa: S101 - a test's own
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=PATIENCE_S)

    def bus(self) -> str:
        """Give the address of the bus of the platform that is up."""
        return str(json.loads((self.state / "house.json").read_text())["nats_url"])


def until(there: Callable[[], bool]) -> None:
    """Wait for what another process brings about."""
    deadline = time.monotonic() + PATIENCE_S
    while not there():
        if time.monotonic() > deadline:
            raise TimeoutError(f"It did not come about in {PATIENCE_S:g} s.")
        time.sleep(0.05)
