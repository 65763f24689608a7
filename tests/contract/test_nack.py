"""The resources of NACK are the streams and durables that the platform provisions."""

from pathlib import Path
from typing import Any

import yaml

from biaswatch.shared.bus.jetstream.admin import durable_config, stream_config
from biaswatch.shared.bus.topology import StreamLimits, durables, streams

PATH = Path(__file__).parents[2] / "deploy" / "k8s" / "nack" / "streams.yaml"
RESOURCES: list[dict[str, Any]] = list(yaml.safe_load_all(PATH.read_text()))
LETTERS = str.maketrans({letter: f"_{letter.lower()}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"})
OTHER_NAMES = {"replicas": "num_replicas", "discard_per_subject": "discard_new_per_subject"}


def read_back(resource: dict[str, Any]) -> dict[str, Any]:
    """Return a resource as a configuration of JetStream."""
    assert resource["spec"].pop("preventDelete") is True
    fields = {name.translate(LETTERS): value for name, value in resource["spec"].items()}
    return {
        OTHER_NAMES.get(name, name): nanoseconds(value)
        if name in {"max_age", "duplicate_window", "ack_wait"}
        else value
        for name, value in fields.items()
    }


def nanoseconds(duration: str) -> int:
    return int(duration.removesuffix("s") or 0) * 1_000_000_000


def test_every_stream_and_durable_is_provisioned_alike() -> None:
    result = {kind: [r for r in RESOURCES if r["kind"] == kind] for kind in ("Stream", "Consumer")}
    limits = StreamLimits(replicas=3)
    assert list(map(read_back, result["Stream"])) == list(map(stream_config, streams(limits)))
    expected = [{"stream_name": spec.stream, **durable_config(spec)} for spec in durables()]
    for config in expected:
        del config["name"]  # NACK has one name, that of the durable
    assert list(map(read_back, result["Consumer"])) == expected


def test_names_are_unique_and_fit_kubernetes() -> None:
    names = [(r["kind"], r["metadata"]["name"]) for r in RESOURCES]
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() and name.islower() for _, name in names)
