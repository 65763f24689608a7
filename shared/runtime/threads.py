"""Blocking calls in threads, and lookups batched into one query."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, ParamSpec, TypeVar

from biaswatch.shared.bus.stage import without_stop_iteration

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call in a thread; on cancellation, wait for it to end first.

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
        if not running.cancelled():
            running.exception()  # asyncio logs one that is not retrieved
        raise


class BatchedLookup(Generic[V]):
    """Batches lookups by key: keys requested during a query are looked up in the next one.

    `find` blocks and runs in a thread; it returns the values of the keys that have one. Each query
    waits `batch_window_s` for more keys.
    """

    def __init__(
        self, find: Callable[[Sequence[str]], Mapping[str, V]], *, batch_window_s: float = 0.0
    ) -> None:
        self._find = find
        self._batch_window_s = batch_window_s
        self._wanted: list[tuple[str, asyncio.Future[V | None]]] = []
        self._looking: asyncio.Task[None] | None = None

    async def get(self, key: str) -> V | None:
        """Return the value of a key or None; raise what `find` raises."""
        answer: asyncio.Future[V | None] = asyncio.get_running_loop().create_future()
        self._wanted.append((key, answer))
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            return await answer
        except asyncio.CancelledError:
            if self._looking is not None:  # the query must end before its resources are closed
                await asyncio.wait([self._looking])
            raise

    async def _look(self) -> None:
        while self._wanted:
            # Even without a window, requests of this iteration of the event loop are included.
            await asyncio.sleep(self._batch_window_s)
            batch, self._wanted = self._wanted, []
            try:
                values = await in_thread(self._find, [key for key, _ in batch])
            except Exception as error:  # noqa: BLE001 - raised by `get`
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
            else:
                for key, answer in batch:
                    if not answer.done():
                        answer.set_result(values.get(key))
        self._looking = None
