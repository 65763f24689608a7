"""The files that deploy are clean to the programs that check such files."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import key_names
from biaswatch.shared.bus.server import find_binary
from biaswatch.shared.bus.topology import StreamLimits, streams
from tests.support.manifests import ROOT, clean, objects
from tools.deploy_secrets import certificates


def test_the_dockerfile_is_clean() -> None:
    clean("hadolint", "Dockerfile")


def test_the_yaml_is_clean() -> None:
    clean("yamllint", "--strict", "--config-file", ".yamllint.yml", "deploy", "docker-compose.yml")


def test_compose_fits_its_schema() -> None:
    clean("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml")


@pytest.mark.parametrize("folder", ["nats", "k8s/components/nats"])
def test_the_bus_accepts_its_settings(folder: str, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes this test's certificates; install it")
    settings, keys = tmp_path / "nats", tmp_path / "keys"
    public = ensure_keys(keys, key_names())
    for place in (settings, tmp_path / "nats-authorization", tmp_path / "nats-tls"):
        place.mkdir()
        (place / "authorization.conf").write_text(server_config(public))
    certificates(tmp_path / "nats-tls")
    for path in (ROOT / "deploy" / folder).glob("*.conf"):
        # Paths in the container are folders here.
        text = path.read_text().replace("/etc/", f"{tmp_path}/")
        (settings / path.name).write_text(text.replace("/var/run/nats", str(tmp_path)))
    words = [str(find_binary()), "-t", "-c", str(settings / "nats-server.conf")]
    result = subprocess.run(words, capture_output=True, text=True, env={"POD_NAME": "nats-0"})
    assert result.returncode == 0, result.stderr


def test_the_bus_has_room_for_all_that_its_streams_reserve() -> None:
    reserved = sum(stream.max_bytes for stream in streams(StreamLimits()))
    settings = ROOT / "deploy" / "k8s" / "components" / "nats" / "nats-server.conf"
    [stored] = re.findall(r"max_file_store: (\d+)GB", settings.read_text())
    [bus] = [s for s in objects("dev", "StatefulSet") if s["metadata"]["name"] == "nats"]
    [claim] = bus["spec"]["volumeClaimTemplates"]
    volume = int(claim["spec"]["resources"]["requests"]["storage"].removesuffix("Gi")) * 1024**3
    assert reserved < int(stored) * 1000**3 < volume
