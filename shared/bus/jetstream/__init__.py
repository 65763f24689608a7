"""NATS JetStream: the only place where nats is imported."""

from shared.bus.jetstream.admin import Admin
from shared.bus.jetstream.connection import Connection
from shared.bus.jetstream.publishing import JetStreamPublisher
from shared.bus.jetstream.pulling import JetStreamInbox

__all__ = ["Admin", "Connection", "JetStreamInbox", "JetStreamPublisher"]
