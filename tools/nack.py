"""Write the streams and durables as resources of NACK, the JetStream controller of NATS."""

import sys
from pathlib import Path
from typing import Any

import yaml

from biaswatch.shared.bus.jetstream.admin import durable_config, stream_config
from biaswatch.shared.bus.topology import DurableSpec, StreamLimits, StreamSpec, durables, streams
from tools.manifest_dumper import ManifestDumper

PATH = Path(__file__).parents[1] / "deploy" / "k8s" / "nack" / "streams.yaml"
API = "jetstream.nats.io/v1beta2"
HEADER = (
    "# Written by tools/nack.py (`make manifests`): what `biaswatch admin provision` creates.\n"
)
STREAM_FIELDS = {
    "name": "name", "subjects": "subjects", "retention": "retention", "discard": "discard",
    "storage": "storage", "compression": "compression", "num_replicas": "replicas",
    "max_msgs": "maxMsgs", "max_msgs_per_subject": "maxMsgsPerSubject",
    "discard_new_per_subject": "discardPerSubject", "max_bytes": "maxBytes", "max_age": "maxAge",
    "max_msg_size": "maxMsgSize", "duplicate_window": "duplicateWindow",
    "max_consumers": "maxConsumers", "allow_direct": "allowDirect", "deny_delete": "denyDelete",
    "deny_purge": "denyPurge",
}  # fmt: skip
DURABLE_FIELDS = {
    "durable_name": "durableName", "filter_subject": "filterSubject",
    "deliver_policy": "deliverPolicy", "ack_policy": "ackPolicy", "ack_wait": "ackWait",
    "max_deliver": "maxDeliver", "max_ack_pending": "maxAckPending",
    "replay_policy": "replayPolicy",
}  # fmt: skip
"""NACK's names of JetStream's fields; it has the same values, except for durations."""
DURATIONS = {"max_age", "duplicate_window", "ack_wait"}
SECOND_NS = 1_000_000_000


def resources() -> list[dict[str, Any]]:
    """Return the resources, with three copies of each stream."""
    limits = StreamLimits(replicas=3)
    return [*map(_stream, streams(limits)), *map(_durable, durables())]


def _stream(spec: StreamSpec) -> dict[str, Any]:
    return _resource("Stream", spec.name, _fields(stream_config(spec), STREAM_FIELDS))


def _durable(spec: DurableSpec) -> dict[str, Any]:
    fields = {"streamName": spec.stream, **_fields(durable_config(spec), DURABLE_FIELDS)}
    return _resource("Consumer", spec.name, fields)


def _resource(kind: str, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return a resource; without it, the stream or durable stays."""
    metadata = {
        "name": name.lower().replace("_", "-"),
        "labels": {"app.kubernetes.io/part-of": "biaswatch"},
    }
    spec = {**fields, "preventDelete": True}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}


def _fields(config: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {
        names[field]: _duration(value) if field in DURATIONS else value
        for field, value in config.items()
        if field in names
    }


def _duration(nanoseconds: int) -> str:
    """Return a duration in Go's form; empty for no limit."""
    return f"{nanoseconds // SECOND_NS}s" if nanoseconds else ""


def main() -> int:
    """Write the file; with --check, exit with 1 where it is out of date."""
    text = HEADER + yaml.dump_all(
        resources(), Dumper=ManifestDumper, sort_keys=False, explicit_start=True
    )
    if "--check" in sys.argv:
        return int(PATH.read_text() != text)
    PATH.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
