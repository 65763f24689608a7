"""Lookups made together: fewer queries, the same answers."""

import asyncio
import gc
import threading
from collections.abc import Mapping, Sequence

import pytest

from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.threads import BatchedLookup, in_thread


class Finder:
    """Counts the queries, and knows the keys that are numbers."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []

    def __call__(self, keys: Sequence[str]) -> Mapping[str, int]:
        self.asked.append(keys)
        return {key: int(key) for key in keys if key.isdigit()}


def test_what_is_wanted_at_once_is_one_query_and_everybody_gets_his_own() -> None:
    finder = Finder()

    async def all_at_once() -> list[int | None]:
        lookup = BatchedLookup(finder)
        return list(await asyncio.gather(*(lookup.get(key) for key in ("1", "2", "none", "1"))))

    assert asyncio.run(all_at_once()) == [1, 2, None, 1]
    assert len(finder.asked) == 1


def test_what_is_wanted_later_is_looked_up_anew() -> None:
    finder = Finder()

    async def one_after_the_other() -> list[int | None]:
        lookup = BatchedLookup(finder)
        return [await lookup.get("1"), await lookup.get("2")]

    assert asyncio.run(one_after_the_other()) == [1, 2]
    assert finder.asked == [["1"], ["2"]]


def test_a_failure_reaches_everybody_who_asked_and_nobody_who_asks_later() -> None:
    states = iter([True, False])

    def find(keys: Sequence[str]) -> Mapping[str, int]:
        if next(states):
            raise TransientError("The store is not available.")
        return {"1": 1}

    async def ask() -> None:
        lookup = BatchedLookup(find)
        for result in await asyncio.gather(
            lookup.get("1"), lookup.get("2"), return_exceptions=True
        ):
            assert isinstance(result, TransientError)
        assert await lookup.get("1") == 1

    asyncio.run(ask())


def test_whoever_gives_up_takes_nothing_from_the_others() -> None:
    async def ask() -> None:
        lookup = BatchedLookup(Finder())
        impatient = asyncio.create_task(lookup.get("1"))
        patient = asyncio.create_task(lookup.get("1"))
        await asyncio.sleep(0)
        impatient.cancel()
        assert await patient == 1
        with pytest.raises(asyncio.CancelledError):
            await impatient

    asyncio.run(ask())


def nothing_left() -> int:
    return next(iter(list[int]()))


async def test_a_call_that_runs_out_of_items_is_an_error_and_no_hang() -> None:
    with pytest.raises(RuntimeError, match="raised StopIteration") as caught:
        await asyncio.wait_for(in_thread(nothing_left), 10)
    assert isinstance(caught.value.__cause__, StopIteration)


async def test_it_is_one_also_when_whoever_waits_has_given_up() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def late() -> int:
        begun.set()
        go_on.wait()
        return nothing_left()

    waiting = asyncio.create_task(in_thread(late))
    await asyncio.to_thread(begun.wait)
    waiting.cancel()
    await asyncio.sleep(0)
    go_on.set()
    done, _ = await asyncio.wait([waiting], timeout=10)
    assert done == {waiting}
    assert waiting.cancelled()


async def test_a_lookup_whose_query_runs_out_of_items_fails_for_everybody() -> None:
    lookup: BatchedLookup[int] = BatchedLookup(lambda _: {"1": nothing_left()})
    asked = asyncio.gather(lookup.get("1"), lookup.get("2"), return_exceptions=True)
    assert {type(item) for item in await asyncio.wait_for(asked, 10)} == {RuntimeError}


async def test_a_failure_after_a_cancellation_is_not_logged_as_forgotten() -> None:
    begun, go_on, forgotten = threading.Event(), threading.Event(), list[dict[str, object]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, about: forgotten.append(about))

    def fail() -> None:
        begun.set()
        go_on.wait()
        raise TransientError("The store is not available.")

    asking = asyncio.create_task(in_thread(fail))
    await asyncio.to_thread(begun.wait)
    asking.cancel()
    asyncio.get_running_loop().call_later(0.01, go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await asking
    del asking
    gc.collect()
    assert forgotten == []
