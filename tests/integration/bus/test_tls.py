"""A bus that speaks TLS is joined where its certificate is trusted, and nowhere else."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from biaswatch.shared.bus.jetstream import Connection
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.errors import ConfigurationError

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl makes this test's certificates; install it"
)


def certificate(directory: Path, name: str) -> Path:
    """Make a certificate that vouches for itself, for this machine."""
    path = directory / f"{name}.crt"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "1", "-subj", "/CN=biaswatch", "-keyout", f"{path}.key"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-out", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path


@pytest.fixture
def trusted(tmp_path: Path) -> Path:
    return certificate(tmp_path, "server")


@pytest.fixture
def url(tmp_path: Path, trusted: Path) -> Iterator[str]:
    tls = f'tls {{ cert_file: "{trusted}", key_file: "{trusted}.key" }}'
    with EmbeddedServer(tmp_path / "nats", extra_config=tls) as server:
        yield server.url


async def test_a_service_joins_a_bus_whose_certificate_it_trusts(url: str, trusted: Path) -> None:
    connection = await Connection.open(url, name="planner", ca_file=trusted)
    await connection.flush()
    await connection.close()


async def test_a_service_refuses_a_bus_with_another_certificate(url: str, tmp_path: Path) -> None:
    other = certificate(tmp_path, "other")
    with pytest.raises(ConfigurationError, match="refuses planner"):
        await Connection.open(url, name="planner", ca_file=other)


async def test_a_certificate_that_is_not_there_is_said(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="BIASWATCH_NATS_CA_FILE"):
        await Connection.open(url, name="planner", ca_file=tmp_path / "none.crt")
