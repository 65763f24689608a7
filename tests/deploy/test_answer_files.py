"""Answers in files on Kubernetes: their readers and the writer get image, keys and memory."""

from copy import deepcopy
from typing import Any

from biaswatch.shared.store.answer_file_reader import WITHOUT_PARQUET
from tests.support.manifests import FILES_SECRET, READ_FILES, objects

PLACE = {"name": "BIASWATCH_RECORDER_ANSWER_FILES", "value": "s3://biaswatch-answers/live"}
KEYS = {"name": "AWS_SHARED_CREDENTIALS_FILE", "value": "/run/secrets/answer-files/credentials"}
MOUNT = {"name": "answer-files", "mountPath": "/run/secrets/answer-files", "readOnly": True}
VOLUME = {
    "name": "answer-files",
    "secret": {"secretName": FILES_SECRET, "optional": True, "defaultMode": 0o440},
}
MEBIBYTES = {"Mi": 1, "Gi": 1024}
MOST_RESIDENT_MIB = {"planner": 188, "diagnoser": 291, "gateway": 310}
"""Measured where answers are in files: docs/decisions/0031."""


def test_production_with_files_changes_image_keys_and_memory_of_four_services() -> None:
    plain, with_files = _by_name("production"), _by_name("production-files")
    assert with_files.keys() - plain.keys() == {("NetworkPolicy", "answer-files")}
    for (kind, name), resource in plain.items():
        changed = deepcopy(resource)
        if kind == "Deployment" and name in READ_FILES:
            [before] = changed["spec"]["template"]["spec"]["containers"]
            [after] = with_files[kind, name]["spec"]["template"]["spec"]["containers"]
            before["image"] = f"biaswatch-{name}:dev-parquet"
            before["env"] += [KEYS, *([PLACE] if name == "recorder" else [])]
            before["volumeMounts"].append(MOUNT)
            changed["spec"]["template"]["spec"]["volumes"].append(VOLUME)
            for which in ("requests", "limits"):  # a test of its own looks at how much
                before["resources"][which]["memory"] = after["resources"][which]["memory"]
        assert with_files[kind, name] == changed, name


def test_files_are_reached_by_https_at_public_addresses_like_models() -> None:
    resources = _by_name("production-files")
    files, models = (
        resources["NetworkPolicy", name]["spec"] for name in ("answer-files", "models")
    )
    assert files["policyTypes"] == ["Egress"]
    assert files["egress"] == models["egress"]
    assert [rule["ports"] for rule in files["egress"]] == [[{"protocol": "TCP", "port": 443}]]


def test_a_reader_of_files_has_the_memory_that_was_measured_and_a_fifth_to_spare() -> None:
    plain, with_files = _by_name("production"), _by_name("production-files")
    for name in READ_FILES:
        before, after = (_memory(overlay["Deployment", name]) for overlay in (plain, with_files))
        assert after["limits"] > 1.2 * MOST_RESIDENT_MIB.get(name, 0)
        if name != "diagnoser":  # which has enough for a window
            assert after["limits"] == before["limits"] + 128
            assert after["requests"] == before["requests"] + 64


def test_the_services_are_those_that_the_error_without_pyarrow_names() -> None:
    named = WITHOUT_PARQUET.partition("images of ")[2].rstrip(".")
    assert set(named.replace(" and ", ", ").split(", ")) == READ_FILES


def _by_name(overlay: str) -> dict[tuple[str, str], Any]:
    return {(o["kind"], o["metadata"]["name"]): o for o in objects(overlay)}


def _memory(deployment: dict[str, Any]) -> dict[str, int]:
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    amounts = {kind: resources["memory"] for kind, resources in container["resources"].items()}
    return {kind: int(text[:-2]) * MEBIBYTES[text[-2:]] for kind, text in amounts.items()}
