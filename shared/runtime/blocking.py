"""Blocking calls: each in a thread, and lookups of many keys as one query."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, ParamSpec, TypeVar

from biaswatch.shared.bus.stage import without_stop_iteration

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call in a thread; on cancellation, wait for its end first.

    Raises
    ------
    RuntimeError
        The call raised StopIteration, which no future can hold.
    """
    running = asyncio.ensure_future(
        asyncio.to_thread(without_stop_iteration(call), *args, **kwargs)
    )
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


V = TypeVar("V")


class BatchedLookup(Generic[V]):
    """Finds values by key; keys requested while a query runs are looked up together in the next.

    `find` blocks and runs in a thread; it returns the values of those keys that have one. A query
    that others join costs each of them little, so it waits `batch_window_s` for them.
    """

    def __init__(
        self, find: Callable[[Sequence[str]], Mapping[str, V]], *, batch_window_s: float = 0.0
    ) -> None:
        self._find = find
        self._batch_window_s = batch_window_s
        self._wanted: list[tuple[str, asyncio.Future[V | None]]] = []
        self._looking: asyncio.Task[None] | None = None

    async def get(self, key: str) -> V | None:
        """Return the key's value, or None where there is none; raise what `find` raises."""
        answer: asyncio.Future[V | None] = asyncio.get_running_loop().create_future()
        self._wanted.append((key, answer))
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            return await answer
        except asyncio.CancelledError:
            if self._looking is not None:  # what the query reads must not be closed under it
                await asyncio.wait([self._looking])
            raise

    async def _look(self) -> None:
        while self._wanted:
            # At least, requests of this turn of the event loop join the query.
            await asyncio.sleep(self._batch_window_s)
            asked, self._wanted = self._wanted, []
            try:
                found = await in_thread(self._find, [key for key, _ in asked])
            except Exception as error:  # noqa: BLE001 - it is raised where it was asked for
                for _, answer in asked:
                    if not answer.done():
                        answer.set_exception(error)
            else:
                for key, answer in asked:
                    if not answer.done():
                        answer.set_result(found.get(key))
        self._looking = None
