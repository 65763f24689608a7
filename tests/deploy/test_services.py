"""Compose, the chart and Prometheus deploy the same services with the same settings and secrets."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.bus.permissions import service_names as keyed_services
from biaswatch.shared.contracts import ROUTES
from biaswatch.shared.contracts.partitions import PARTITIONS
from biaswatch.shared.contracts.providers import key_variables
from tests.support.manifests import (
    BUS_SERVICES,
    FILES_SECRET,
    OVERLAYS,
    READ_FILES,
    ROOT,
    SERVICES,
    VALUES,
    objects,
    pods,
)

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
PROMETHEUS = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())
MATCHED_BY_COMPOSE = {
    "BIASWATCH_NATS_SEED_FILE": "/run/secrets/nats.seed",
    "BIASWATCH_SECRETS_DIR": "/run/secrets",
}
"""Settings of Kubernetes that name a file elsewhere in a container of compose."""
WITHOUT_COMPOSE = {"BIASWATCH_UNREADY_S", "BIASWATCH_WAIT_FOR_STORE_S", "MALLOC_MMAP_THRESHOLD_"}
"""Settings that only matter where pods are routed to, start in any order or have a memory limit."""


def test_the_chart_has_every_service_of_the_code() -> None:
    folders = {path.parent.name for path in (ROOT / "services").glob("*/app.py")}
    assert set(SERVICES) == folders, "each needs an entry in values.yaml and docker-compose.yml"


def test_rendered_files_are_up_to_date() -> None:
    checker = shutil.which("checkov")
    if checker is None:
        pytest.skip("helm is not here: make test-deploy installs it")
    commands = (
        [sys.executable, "-m", "tools.resource_definitions", "--check"],
        [str(Path(checker).parent / "python"), "tools/manifests.py", "--check"],
    )
    for command in commands:
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert result.returncode == 0, f"run `make manifests`: {result.stdout}{result.stderr}"


@pytest.mark.parametrize("service", BUS_SERVICES)
def test_a_service_is_in_compose_prometheus_and_the_docs(service: str) -> None:
    assert service in COMPOSE["services"]
    [discovery] = PROMETHEUS["scrape_configs"][0]["dns_sd_configs"]
    assert service in discovery["names"]
    assert f"`{service}`" in (ROOT / "docs" / "operations.md").read_text()


@pytest.mark.parametrize("service", BUS_SERVICES)
def test_compose_and_the_chart_give_a_service_the_same_settings(service: str) -> None:
    [container] = pods("plain")[service]["containers"]
    own = COMPOSE["services"][service]["environment"]
    for variable in container["env"]:
        name, value = variable["name"], variable["value"]
        if name not in WITHOUT_COMPOSE:
            assert own[name] == MATCHED_BY_COMPOSE.get(name, value), name
    [settings] = [
        config["data"]
        for config in objects("plain", "ConfigMap")
        if "BIASWATCH_NATS_URL" in config["data"]
    ]
    assert settings["BIASWATCH_LOG_LEVEL"] in own["BIASWATCH_LOG_LEVEL"]


@pytest.mark.parametrize("service", BUS_SERVICES)
def test_a_service_holds_its_own_secrets_and_no_others(service: str) -> None:
    secrets = ["biaswatch_store_url", *VALUES["services"][service].get("secrets", [])]
    held = COMPOSE["services"][service]["secrets"]
    names = {entry if isinstance(entry, str) else entry["source"] for entry in held}
    assert names == {f"{service}_seed", *secrets}
    assert names <= COMPOSE["secrets"].keys()
    assert service in keyed_services()
    for overlay in OVERLAYS:
        own = [f"biaswatch-{service}", "nats-tls"]
        if overlay.endswith("-channels") and VALUES["services"][service].get("sendsAlarms"):
            own.append("biaswatch-channels")
        if overlay.endswith("-files") and service in READ_FILES:
            own.append(FILES_SECRET)
        volumes = [v["secret"] for v in pods(overlay)[service]["volumes"] if "secret" in v]
        assert [volume["secretName"] for volume in volumes] == own
        assert volumes[1]["items"] == [{"key": "ca.crt", "path": "ca.crt"}]


def test_only_the_generator_holds_the_keys_of_model_providers() -> None:
    keys = {f"biaswatch_{name.lower()}" for name in key_variables()}
    for name, service in VALUES["services"].items():
        assert keys & set(service.get("secrets", ())) == (keys if name == "generator" else set())
    outside = {
        name
        for name, service in COMPOSE["services"].items()
        if "models" in service.get("networks", ())
    }
    assert outside == {"generator"}


@pytest.mark.parametrize("service", BUS_SERVICES)
def test_a_service_is_scaled_by_every_durable_that_it_reads(service: str) -> None:
    durables = [
        {
            "stream": route.stream,
            "consumer": name,
            **({"bundled": True} if route.bundled else {}),
            **({"byLane": True} if route.by_lane else {}),
            **({"partitions": PARTITIONS} if service in route.fair else {}),
        }
        for route in ROUTES
        if service in route.consumers and service not in route.where_chosen
        for name in (route.durables(service)[: 1 if service in route.fair else None])
    ]
    assert VALUES["services"][service].get("consumes", []) == durables


def test_a_container_is_given_longer_to_end_than_its_service_takes() -> None:
    for name, service in COMPOSE["services"].items():
        environment: dict[str, Any] = service.get("environment", {})
        if "BIASWATCH_GRACE_S" in environment:
            patience_s = float(service.get("stop_grace_period", "10s").removesuffix("s"))
            assert patience_s > float(environment["BIASWATCH_GRACE_S"]), name


def test_the_longest_call_of_the_generator_ends_within_its_grace() -> None:
    longest_s = GeneratorSettings.model_fields["generator_timeout_s"].default
    assert VALUES["services"]["generator"]["graceSeconds"] > longest_s


def test_only_the_simulator_and_the_gpu_extractor_need_a_profile() -> None:
    with_profile = {name for name, own in COMPOSE["services"].items() if "profiles" in own}
    assert with_profile == {"simulator", "extractor-gpu"}


def test_the_extractor_of_compose_on_a_gpu_reads_the_models_that_kubernetes_reads() -> None:
    [container] = pods("production-gpu")["extractor"]["containers"]
    variables = {
        variable["name"]: variable["value"] for variable in container["env"] if "value" in variable
    }
    service = COMPOSE["services"]["extractor-gpu"]
    for name in ("EXTRACTOR_NAMES", "EXTRACTOR_DEVICE", "EXTRACTOR_BATCH"):
        value = service["environment"][f"BIASWATCH_{name}"]
        default = re.fullmatch(r"\$\{\w+:-(.*)\}", value)
        assert (default[1] if default else value) == variables[f"BIASWATCH_{name}"]
    for name in ("HF_HOME", "HF_HUB_OFFLINE"):
        assert service["environment"][name] == variables[name]
    assert service["volumes"] == ["${BIASWATCH_MODELS:-models}:/models:ro"]
    assert COMPOSE["volumes"]["models"] == {"name": "biaswatch-models"}


def test_the_page_names_every_model_of_the_extractors_on_a_gpu() -> None:
    page = (ROOT / "docs" / "install.md").read_text()
    from biaswatch.services.extractor.extractors.classifiers import MODELS
    from biaswatch.shared.models.device import MINILM

    models = [MINILM, *(model for model, _ in MODELS.values())]
    assert models
    assert [model for model in models if model not in page] == []
