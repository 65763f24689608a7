"""Every service is deployed everywhere, and what is written from the code is up to date."""

import re
import subprocess
import sys

import pytest
import yaml

from biaswatch.shared.bus.permissions import service_names as with_a_key
from tests.support.manifests import FILES_SECRET, OVERLAYS, READ_FILES, ROOT, objects, pods
from tools.deployment.services import OPERATOR, bus_services, secrets_of, service_names, spec_of

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
PROMETHEUS = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())


def test_what_is_written_from_the_code_is_up_to_date() -> None:
    words = [sys.executable, "-m", "tools.manifests", "--check"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, env={"PYTHONPATH": "."})
    assert done.returncode == 0, f"`make manifests` is due: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("service", service_names())
def test_a_service_is_in_compose_kubernetes_prometheus_and_the_docs(service: str) -> None:
    assert service in COMPOSE["services"] or service == OPERATOR  # there are no resources there
    assert service in pods("dev")
    assert f"`{service}`" in (ROOT / "docs" / "operations.md").read_text()
    if service in bus_services():
        [found] = PROMETHEUS["scrape_configs"][0]["dns_sd_configs"]
        assert service in found["names"]
        [monitor] = objects("production", "PodMonitor")
        assert service in monitor["spec"]["selector"]["matchExpressions"][0]["values"]


@pytest.mark.parametrize("service", bus_services())
def test_a_service_holds_its_own_secrets_and_nobody_elses(service: str) -> None:
    held = COMPOSE["services"][service]["secrets"]
    names = {each if isinstance(each, str) else each["source"] for each in held}
    assert names == {f"{service}_seed", *secrets_of(service)}
    assert service in with_a_key()
    for overlay in OVERLAYS:
        if service in (found := pods(overlay)):
            volumes = [each["secret"] for each in found[service]["volumes"] if "secret" in each]
            own = [f"biaswatch-{service}", "nats-tls"]
            if overlay.endswith("-channels") and service == "diagnoser":
                own.append("biaswatch-channels")
            if overlay.endswith("-files") and service in READ_FILES:
                own.append(FILES_SECRET)
            assert [each["secretName"] for each in volumes] == own
            assert volumes[1]["items"] == [{"key": "ca.crt", "path": "ca.crt"}]


def test_only_the_generator_holds_the_keys_of_model_providers() -> None:
    holders = {
        name for name in service_names() if any("api_key" in key for key in secrets_of(name))
    }
    assert holders == {"generator"}
    outside = {
        name for name, each in COMPOSE["services"].items() if "models" in each.get("networks", ())
    }
    assert outside == {"generator"}


def test_a_container_is_given_longer_to_end_than_its_service_takes() -> None:
    for name, own in COMPOSE["services"].items():
        given = own.get("environment", {})
        if "BIASWATCH_GRACE_S" in given:
            patience_s = float(own.get("stop_grace_period", "10s").removesuffix("s"))
            assert patience_s > float(given["BIASWATCH_GRACE_S"]), name


def test_the_longest_call_of_the_generator_ends_within_its_grace() -> None:
    from biaswatch.services.generator.settings import GeneratorSettings

    longest_s = GeneratorSettings.model_fields["generator_timeout_s"].default
    assert spec_of("generator").grace_s > longest_s
    assert float(COMPOSE["services"]["generator"]["environment"]["BIASWATCH_GRACE_S"]) > longest_s


def test_what_one_starts_without_being_asked_needs_no_profile() -> None:
    with_profile = {name for name, each in COMPOSE["services"].items() if "profiles" in each}
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
    page = (ROOT / "docs" / "operations.md").read_text()
    files = [*(ROOT / "services/extractor/extractors").glob("*.py"),
             ROOT / "shared/models/text_models.py"]  # fmt: skip
    models = [
        match[1] for path in files
        for match in re.finditer(r'^(?:MODEL|MINILM) = "(.+/.+)"', path.read_text(), re.MULTILINE)
    ]  # fmt: skip
    assert models
    assert [model for model in models if model not in page] == []
