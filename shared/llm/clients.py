"""Several clients of one SDK, each with a pool of connections of its own.

For every call a pool looks at each of its connections, which at 200 in flight costs more than the
call. So a client takes 25 calls at a time, and another one is made when all have as many.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

CALLS_EACH = 25



class Clients(Generic[C]):
    """Returns each call the first client that has a hand free."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._clients = [make()]
        self._calls = [0]

    @contextmanager
    def one(self) -> Iterator[C]:
        """Return a client for one call."""
        number = next((n for n, calls in enumerate(self._calls) if calls < CALLS_EACH), None)
        if number is None:
            number = len(self._clients)
            self._clients.append(self._make())
            self._calls.append(0)
        self._calls[number] += 1
        try:
            yield self._clients[number]
        finally:
            self._calls[number] -= 1

    async def close(self) -> None:
        """Let go of all connections."""
        for client in self._clients:
            closing: Any = client
            await closing.close()
