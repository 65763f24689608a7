"""Lookups made together: fewer queries, the same answers."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from shared.errors import TransientError
from shared.runtime.blocking import BatchedLookup


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
