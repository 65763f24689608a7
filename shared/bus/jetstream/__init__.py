"""NATS JetStream: the only place where nats is imported."""

from shared.bus.jetstream.admin import Admin
from shared.bus.jetstream.calling import Caller, NobodyAnswers, Reply
from shared.bus.jetstream.connection import Connection
from shared.bus.jetstream.publishing import JetStreamPublisher
from shared.bus.jetstream.pulling import JetStreamInbox
from shared.bus.jetstream.serving import served

__all__ = [
    "Admin",
    "Caller",
    "Connection",
    "JetStreamInbox",
    "JetStreamPublisher",
    "NobodyAnswers",
    "Reply",
    "served",
]
