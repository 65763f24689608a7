"""Everything that lies on a bus, as text: on disk it is compressed."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

from biaswatch.shared.bus.accounts import STREAMS
from biaswatch.shared.bus.jetstream import Admin, Connection
from biaswatch.shared.bus.jetstream.keys import ensure_keys


async def on_the_bus(url: str, *, name: str = "operator", seed: Path | None = None) -> list[str]:
    """Return every message of every stream, with subject and headers."""
    connection = await Connection.open(url, name=name, seed_file=seed)
    messages = [text async for text in _messages(Admin(connection))]
    await connection.close()
    return messages


def with_readers(config: str, folder: Path) -> str:
    """Return the accounts of a bus with a key beside for each stream, which nobody else has."""
    public = ensure_keys(folder, STREAMS)
    lines = []
    for line in config.splitlines():
        name, _, account = line.strip().partition(": ")
        if name in public:
            read = {**json.loads(account), "users": [{"nkey": public[name]}]}
            lines.append(f" {name}: {json.dumps(read)}")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


async def on_the_keyed_bus(url: str, folder: Path) -> list[str]:
    """Return every message of every stream, read with the keys of `with_readers`."""
    result = []
    for name in STREAMS:
        connection = await Connection.open(url, name=name, seed_file=folder / f"{name}.seed")
        result += [text async for text in _messages_of(Admin(connection), name)]
        await connection.close()
    return result


async def _messages(admin: Admin) -> AsyncIterator[str]:
    for stream in STREAMS:
        async for text in _messages_of(admin, stream):
            yield text


async def _messages_of(admin: Admin, stream: str) -> AsyncIterator[str]:
    number = 1
    while message := await admin.next_message(stream, ">", number):
        yield f"{message.subject} {message.headers} {message.data.decode(errors='replace')}"
        number = message.sequence + 1
