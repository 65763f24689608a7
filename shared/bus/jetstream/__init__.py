"""NATS JetStream: the only place where nats is imported."""

from biaswatch.shared.bus.jetstream.admin import Admin, provision
from biaswatch.shared.bus.jetstream.connection import Connection
from biaswatch.shared.bus.jetstream.consumer import JetStreamConsumer
from biaswatch.shared.bus.jetstream.messages import (
    NoReply,
    Requester,
    ServiceReply,
    serve_endpoints,
)
from biaswatch.shared.bus.jetstream.publisher import JetStreamPublisher
from biaswatch.shared.bus.jetstream.queues import RecordQueue, most_waiting

__all__ = [
    "Admin",
    "Connection",
    "JetStreamConsumer",
    "JetStreamPublisher",
    "NoReply",
    "RecordQueue",
    "Requester",
    "ServiceReply",
    "most_waiting",
    "provision",
    "serve_endpoints",
]
