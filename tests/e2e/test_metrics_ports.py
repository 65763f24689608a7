"""`up --processes` serves the metrics of each service on its own fixed port."""

import os
import signal
import socket
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx2
import pytest

from biaswatch.local.platform import HERE, SERVICES
from tests.support.commands import CommandLine
from tests.support.processes import children
from tests.support.waiting import until

pytestmark = pytest.mark.slow

FIRST_PORTS = range(20200, 32000, len(SERVICES))
"""Below the ports that the system hands out."""


def first_of_free_ports() -> int:
    """Return the first of consecutive free ports, one per service."""
    return next((port for port in FIRST_PORTS if all_free(port)), 0)


def all_free(first: int) -> bool:
    with ExitStack() as stack:
        for port in range(first, first + len(SERVICES)):
            listener = stack.enter_context(socket.socket())
            try:
                listener.bind((HERE, port))
            except OSError:
                return False
    return True


def serves(port: int) -> bool:
    try:
        return "python_info" in httpx2.get(f"http://{HERE}:{port}/metrics").text
    except httpx2.TransportError:
        return False


def test_a_service_keeps_its_port_also_after_it_was_killed(tmp_path: Path) -> None:
    first = first_of_free_ports()
    assert first
    command = CommandLine(tmp_path / "state", BIASWATCH_HEALTH_PORT=str(first))
    with command.up("--processes") as platform:
        for number in range(len(SERVICES)):
            until(partial(serves, first + number))
        words = f"Metrics: http://{HERE}:{first}/metrics (planner) to {first + 9} (gateway)"
        assert words in command("status").stdout
        [killed] = children(platform.pid, "biaswatch.services.extractor.app")
        os.kill(killed, signal.SIGKILL)
        until(lambda: set(children(platform.pid, "biaswatch.services.extractor.app")) - {killed})
        until(lambda: serves(first + SERVICES.index("extractor")))
