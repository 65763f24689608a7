"""One at a time for each name: who comes second finds what the first has done."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class _Door:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    here: int = 0
    """Who is inside or waits; with nobody here, the door is forgotten."""


class Turns:
    """Doors by name, kept only while somebody is at one."""

    def __init__(self) -> None:
        self._doors: dict[str, _Door] = {}

    @asynccontextmanager
    async def one(self, name: str) -> AsyncIterator[None]:
        """Be the only one with this name while the context lasts."""
        door = self._doors.setdefault(name, _Door())
        door.here += 1
        try:
            async with door.lock:
                yield
        finally:
            door.here -= 1
            if not door.here:
                self._doors.pop(name, None)
