"""Calls of a stage's handler, however it is written: it waits, or it runs in a thread."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from biaswatch.shared.bus.stage import Outputs, Stage
from biaswatch.shared.contracts import Record

Call = Callable[[Sequence[Record]], Awaitable[Outputs]]
P = ParamSpec("P")
T = TypeVar("T")


def without_stop_iteration(call: Callable[P, T]) -> Callable[P, T]:
    """Return a call for a thread that raises RuntimeError instead of StopIteration.

    Up to Python 3.12 a future refuses StopIteration, and the coroutine that awaits it never wakes.
    """

    def raising(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return call(*args, **kwargs)
        except StopIteration as error:
            raise RuntimeError("A call in a thread raised StopIteration.") from error

    return raising


def call_of(stage: Stage[Any], pool: ThreadPoolExecutor) -> Call:
    """Return the handler as a coroutine of records; plain functions run in the thread pool."""
    handler: Any = stage.handler
    waits = inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(
        getattr(handler, "__call__", None)  # noqa: B004 - asks how it is defined, not whether
    )

    async def call(records: Sequence[Record]) -> Outputs:
        argument = records if stage.batch else records[0]
        if waits:
            outputs: Outputs = await handler(argument)
            return outputs
        in_context = partial(copy_context().run, without_stop_iteration(handler), argument)
        return await asyncio.get_running_loop().run_in_executor(pool, in_context)

    return call
