"""Processes that a test starts, kills at random moments, and starts again."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from biaswatch.shared.bus.server import EmbeddedServer
from tests.support.waiting import PATIENCE_S

SERVER = "server"
WORKER = "worker"
BETWEEN_KILLS_S = (0.1, 0.9)


def app_of(service: str) -> str:
    """Return the module that runs a service."""
    return f"biaswatch.services.{service}.app"


class Fleet:
    """Worker processes beside a NATS server, and what befalls them."""

    def __init__(
        self,
        server: EmbeddedServer,
        commands: Sequence[Sequence[str]],
        environment: Mapping[str, str],
        seed: int,
        *,
        keys: Path | None = None,
    ) -> None:
        """Start them; with the folder of `keys`, each service with its own."""
        self._server = server
        self._keys = keys
        self._environment = dict(environment)
        self._luck = Random(seed)
        self._began = time.monotonic()
        self._processes = [(command, self._start(command)) for command in commands]

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        environment = dict(self._environment)
        if self._keys:
            service = command[0].split(".")[-2]
            environment["BIASWATCH_NATS_SEED_FILE"] = str(self._keys / f"{service}.seed")
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            env=environment,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    async def suffer(
        self, worker_kills: int, server_kills: int, between_s: tuple[float, float] = BETWEEN_KILLS_S
    ) -> None:
        """Kill at random moments, start again what was killed."""
        events = [WORKER] * worker_kills + [SERVER] * server_kills
        self._luck.shuffle(events)
        await asyncio.sleep(1.0)
        for event in events:
            await asyncio.sleep(self._luck.uniform(*between_s))
            if event == SERVER:
                self._server.kill()
                self._server.start()
            else:
                self._kill_worker()

    def _kill_worker(self) -> None:
        victim = self._luck.randrange(len(self._processes))
        command, process = self._processes[victim]
        process.kill()
        process.wait()
        self._processes[victim] = (command, self._start(command))

    def end(self) -> list[int]:
        """Stop every process in good order; give the exit codes."""
        for _, process in self._processes:
            process.terminate()
        return [process.wait(PATIENCE_S) for _, process in self._processes]

    @property
    def age_s(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self._began
