"""The whole platform in containers, as docker-compose.yml describes it, for tests from outside."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx2
import pytest
from testcontainers.compose import DockerCompose

from tests.support.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
ENGINE = {"DOCKER_BUILDKIT": "0", "DOCKER_API_VERSION": "1.41"}
"""An engine and a client of any age understand each other so."""
GET_WITH_PYTHON = (
    "python3 -c 'import sys,urllib.request;urllib.request.urlopen(sys.argv[1],timeout=2)'"
)


def why_no_engine() -> str | None:
    """Say what is missing for these tests, if anything is."""
    if shutil.which("docker") is None:
        return "no `docker` command is installed"
    if run("docker", "info", check=False).returncode:
        return "no Docker engine answers"
    composes = ("docker-compose",), ("docker", "compose")
    if all(
        shutil.which(c[0]) is None or run(*c, "version", check=False).returncode for c in composes
    ):
        return "neither `docker compose` nor `docker-compose` is installed"
    return None


def containers_marks() -> list[pytest.MarkDecorator]:
    """Return the marks of tests that need an engine: one after the other, skipped without one."""
    missing = why_no_engine()
    return [
        pytest.mark.containers,
        pytest.mark.timeout(1800),
        pytest.mark.skipif(bool(missing), reason=f"no container engine: {missing}"),
    ]


def run(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command of an engine."""
    environment = {**ENGINE, **os.environ}
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=environment, cwd=ROOT
    )
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done


class Compose(DockerCompose):
    """Compose, as the plug-in of the docker command or as the program of its own."""

    @cached_property
    def compose_command_property(self) -> list[str]:
        """Return the command that works on this machine."""
        plugin = run("docker", "compose", "version", check=False).returncode == 0
        words = ["docker", "compose"] if plugin else ["docker-compose"]
        for file in self.compose_file_name or ():
            words += ["--file", file]
        for profile in self.profiles or ():
            words += ["--profile", profile]
        return words


class ContainerPlatform:
    """A platform in containers: its gateway over HTTP, and its containers to kill."""

    def __init__(
        self, compose: Compose, project: str, secrets: Path, ports: Mapping[str, int]
    ) -> None:
        self.compose = compose
        self.secrets = secrets
        self._project = project
        self.prometheus = f"http://127.0.0.1:{ports['PROMETHEUS_PORT']}"
        self.url = f"http://127.0.0.1:{ports['GATEWAY_PORT']}"
        token = (secrets / "biaswatch_gateway_run_token").read_text().strip()
        self.http = httpx2.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=10
        )

    def containers(self, service: str) -> list[str]:
        """Return the containers of a service that are running."""
        labels = [
            f"com.docker.compose.project={self._project}",
            f"com.docker.compose.service={service}",
        ]
        words = [word for label in labels for word in ("--filter", f"label={label}")]
        return run("docker", "ps", "--quiet", *words).stdout.split()

    def inspect(self, container: str) -> dict[str, Any]:
        """Return what the engine knows of a container."""
        [result] = json.loads(run("docker", "inspect", container).stdout)
        return dict(result)

    def crash(self, service: str) -> None:
        """Kill a service's process, as its own death: the engine starts it again."""
        for container in self.containers(service):
            os.kill(self.inspect(container)["State"]["Pid"], signal.SIGKILL)

    def inside(self, container: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a container."""
        return run("docker", "exec", container, *words, check=False)

    def cold_start_s(self, service: str) -> float:
        """Start a service's container again; give the time until it takes work."""
        [container, *_] = self.containers(service)
        run("docker", "restart", "--time", "60", container)
        began = datetime.fromisoformat(
            self.inspect(container)["State"]["StartedAt"][:26] + "+00:00"
        )

        def working() -> datetime | None:
            stderr = run("docker", "logs", "--since", began.isoformat(), container).stderr
            result = [json.loads(line) for line in stderr.splitlines() if '"working"' in line]
            return datetime.fromisoformat(result[-1]["at"]) if result else None

        ready: datetime = until(working)
        return (ready - began).total_seconds()

    def composed(self, *words: str) -> None:
        """Run a command of compose on this platform."""
        known = self.compose.compose_command_property
        self.compose._run_command(cmd=[*known, *words])

    def scale(self, service: str, number: int) -> None:
        """Have this many containers of a service."""
        self.composed("up", "--detach", "--no-recreate", "--scale", f"{service}={number}")

    def logs(self) -> str:
        """Return what all containers have said."""
        return "".join(self.compose.get_logs())

    def ask(self, verb: str, path: str, body: Any = None) -> Any:
        """Ask the gateway; anything but success is a failure of the test."""
        reply = self.http.request(verb, path, json=body)
        assert reply.is_success, reply.text
        return reply.json()


def until(there: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
    """Wait for what a container brings about; give it."""
    deadline = time.monotonic() + patience_s
    why: object = "nothing came"
    while time.monotonic() < deadline:
        try:
            if result := there():
                return result
        except (httpx2.HTTPError, AssertionError) as error:
            why = error
        time.sleep(0.2)
    raise TimeoutError(f"It did not come about in {patience_s:g} s: {why}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def build_images(*words: str) -> None:
    """Build every service's image, or those that are asked for; what is unchanged costs nothing."""
    run(sys.executable, "-m", "tools.images", "--no-sizes", *words)


def make_secrets(directory: Path, *words: str) -> Path:
    """Make the secrets of a deployment."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tools.deploy_secrets", str(directory), *words]
    subprocess.run(command, check=True, cwd=ROOT, env=environment, capture_output=True)
    return directory


@contextmanager
def platform_in_containers(
    directory: Path, environment: Mapping[str, str] | None = None, *, over: Sequence[Path] = ()
) -> Iterator[ContainerPlatform]:
    """Bring the platform up with the simulator, and take it down with everything it kept.

    `over` are files that compose lays over docker-compose.yml.
    """
    secrets = make_secrets(directory / "secrets")
    ports = {name: _free_port() for name in ("GATEWAY_PORT", "PROMETHEUS_PORT")}
    project = f"biaswatch-test-{os.getpid()}"
    probe = run(
        "docker",
        "run",
        "--rm",
        "--entrypoint",
        "sh",
        "nats:2-alpine",
        "-c",
        "command -v wget",
        check=False,
    )
    given = {
        **ENGINE,
        "BIASWATCH_SECRETS": str(secrets),
        "COMPOSE_PROJECT_NAME": project,
        "HTTP_GET": "wget -q -O /dev/null" if probe.returncode == 0 else GET_WITH_PYTHON,
        **{name: str(port) for name, port in ports.items()},
        **(environment or {}),
    }
    os.environ.update(given)
    try:
        files = ["docker-compose.yml", *map(str, over)]
        with Compose(ROOT, files, wait=False, profiles=["simulator"]) as compose:
            up = ContainerPlatform(compose, project, secrets, ports)
            with up.http:
                yield up
    finally:
        for name in given:
            os.environ.pop(name, None)
