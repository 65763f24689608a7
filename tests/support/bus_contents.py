"""Everything that lies on a bus, as text: on disk it is compressed."""

from collections.abc import AsyncIterator
from pathlib import Path

from shared.bus.jetstream import Admin, Connection
from shared.bus.topology import StreamLimits, streams


async def on_the_bus(url: str, *, name: str = "operator", seed: Path | None = None) -> list[str]:
    """Return every message of every stream, with subject and headers."""
    connection = await Connection.open(url, name=name, seed_file=seed)
    found = [text async for text in _messages(Admin(connection))]
    await connection.close()
    return found


async def _messages(admin: Admin) -> AsyncIterator[str]:
    for stream in streams(StreamLimits()):
        number = 1
        while message := await admin.next_message(stream.name, ">", number):
            yield f"{message.subject} {message.headers} {message.data.decode(errors='replace')}"
            number = message.sequence + 1
