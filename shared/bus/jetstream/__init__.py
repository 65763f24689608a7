"""NATS JetStream: the only place where nats is imported."""

from shared.bus.jetstream.admin import Admin, provision
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
    "Requester",
    "ServiceReply",
    "provision",
    "serve_endpoints",
]
