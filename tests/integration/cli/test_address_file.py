"""The file that says where the platform runs is there whole, or not at all."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from biaswatch.cli.up import metrics_address, metrics_of_processes, served_health
from biaswatch.local.connections import AddressFile, MetricsAddress, RunningPlatform
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.settings import Settings
from biaswatch.shared.runtime.web import free_port

TIMES = 60


def write_again_and_again(file: AddressFile, here: RunningPlatform) -> None:
    for _ in range(TIMES):
        file.write(here)


def test_who_reads_while_the_address_is_written_never_sees_half_of_it(tmp_path: Path) -> None:
    file = AddressFile(tmp_path)
    here = RunningPlatform("http://127.0.0.1:1", "nats://127.0.0.1:2", os.getpid())
    file.write(here)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write_again_and_again, file, here)
        seen = [file.read()]
        while not writing.done():
            seen.append(file.read())
        writing.result()
    assert set(seen) == {here}
    assert [path.name for path in tmp_path.iterdir()] == ["platform.json"]


def test_a_platform_that_starts_is_told_from_none(tmp_path: Path) -> None:
    file = AddressFile(tmp_path / "state")
    with file.starting():
        assert file.read() is None  # in the process that starts it
        (tmp_path / "state" / "starting.pid").write_text(str(os.getppid()))
        with pytest.raises(
            ConfigurationError, match=rf"process {os.getppid()}\) is still starting"
        ):
            file.read()
    assert file.read() is None


def test_health_and_metrics_are_served_on_the_port_of_the_settings() -> None:
    port = free_port("127.0.0.1")
    address = metrics_address(Settings(health_port=port), port=0)
    url = served_health(address, [])
    assert url == f"http://127.0.0.1:{port}/metrics"
    assert "python_info" in httpx2.get(url).text
    ready = httpx2.get(f"http://127.0.0.1:{port}/readyz")
    assert (ready.status_code, ready.json()["why"]) == (503, "starting")
    assert httpx2.get(f"http://127.0.0.1:{port}/nonsense").status_code == 404
    with pytest.raises(ConfigurationError, match=rf"port {port} .*BIASWATCH_HEALTH_PORT"):
        served_health(address, [])


def test_ports_of_metrics_are_fixed_unless_the_gateway_takes_a_free_port() -> None:
    assert metrics_address(Settings(), port=8080) == MetricsAddress("127.0.0.1", 9797)
    assert metrics_address(Settings(), port=0) == MetricsAddress("127.0.0.1", 0)
    named = Settings(health_host="0.0.0.0", health_port=9900)  # noqa: S104 - only compared
    assert metrics_address(named, port=0) == MetricsAddress("0.0.0.0", 9900)  # noqa: S104
    addresses = metrics_of_processes(MetricsAddress("127.0.0.1", 9900))
    assert addresses == "http://127.0.0.1:9900/metrics (planner) to 9909 (gateway)"


def test_a_platform_that_is_dead_is_not_found(tmp_path: Path) -> None:
    file = AddressFile(tmp_path)
    assert file.read() is None
    file.write(RunningPlatform("http://127.0.0.1:1", "nats://127.0.0.1:2", 2**22 + 1))
    assert file.read() is None
