"""NATS JetStream: the only place where nats is imported."""

from shared.bus.jetstream.admin import Admin, RecordQueue, most_waiting, provision
from shared.bus.jetstream.connection import Connection
from shared.bus.jetstream.consumer import JetStreamConsumer
from shared.bus.jetstream.micro import NoReply, Requester, ServiceReply, serve_endpoints
from shared.bus.jetstream.publisher import JetStreamPublisher

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
