"""Services run under user IDs without a name, as containerd gives pods none."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.containers import build_images, containers_marks, run
from tests.support.kubernetes_api import KubernetesApi, served_api
from tests.support.manifests import BUS_SERVICES, operator_rules, resource_definitions
from tests.support.waiting import eventually

pytestmark = containers_marks()
NAMELESS = "12345:12345"
START = ["sh", "-c", "python -c 'import biaswatch.services.'$SERVICE'.app'; id -un"]


@pytest.fixture
def operator_name() -> Iterator[str]:
    """Return a name for a container, which is removed with the test."""
    name = f"biaswatch-test-operator-{os.getpid()}"
    yield name
    run("docker", "rm", "--force", name, check=False)


async def test_the_operator_works(tmp_path: Path, operator_name: str) -> None:
    build_images("operator")
    api = KubernetesApi(resource_definitions(), operator_rules())
    variables = {
        "KUBECONFIG": "/kubeconfig",
        "BIASWATCH_HEALTH_PORT": "0",
        "BIASWATCH_OPERATOR_GATEWAY_URL": "http://127.0.0.1:9",
    }
    options = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
    async with served_api(api, tmp_path) as server:
        run(
            *("docker", "run", "--detach", "--name", operator_name, "--network", "host"),
            *("--user", NAMELESS, "--volume", f"{server.kubeconfig}:/kubeconfig:ro", *options),
            "biaswatch-operator:dev",
        )
        await eventually(lambda: '"working"' in logs(operator_name) or ended(operator_name))
        assert not ended(operator_name), logs(operator_name)


@pytest.mark.parametrize("service", BUS_SERVICES)
def test_a_service_loads(service: str) -> None:
    build_images(service)
    image = f"biaswatch-{service}:dev"
    done = run("docker", "run", "--rm", "--user", NAMELESS, image, *START, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    assert "cannot find name for user ID 12345" in done.stderr


def logs(container: str) -> str:
    """Return what a container has printed."""
    done = run("docker", "logs", container)
    return done.stdout + done.stderr


def ended(container: str) -> bool:
    """Return whether a container has ended."""
    state = run("docker", "inspect", "--format", "{{.State.Running}}", container)
    return state.stdout.strip() != "true"
