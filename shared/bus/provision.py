"""Provisioning: brings a server's streams and durables into line with the address book."""

from shared.bus.jetstream import Admin
from shared.bus.topology import Sizes, durables, streams


async def provision(admin: Admin, sizes: Sizes | None = None) -> None:
    """Make what is missing, change what differs, touch nothing else; safe to run at any time."""
    for stream in streams(sizes or Sizes()):
        await admin.ensure_stream(stream)
    for durable in durables():
        await admin.ensure_durable(durable)
