"""Memory of large runs: mappings that share their keys, and a paused garbage collector."""

import gc
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isnan, nan
from typing import Any


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector.

    A collection visits every object in memory, which takes as long as closing a round, and a
    round's records have no reference cycles.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class NumbersByName(Mapping[str, float | None]):
    """Numbers by name, None for a missing one; many instances share one mapping of names."""

    __slots__ = ("_names", "_numbers")

    def __init__(self, names: Mapping[str, int], numbers: "array[float]") -> None:
        self._names = names
        self._numbers = numbers

    def __getitem__(self, name: str) -> float | None:
        number = self._numbers[self._names[name]]
        return None if isnan(number) else number

    def get(self, name: str, default: Any = None) -> Any:
        """Return a number, or a default; faster than the inherited method for absent names."""
        place = self._names.get(name)
        if place is None:
            return default
        number = self._numbers[place]
        return None if isnan(number) else number

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class SharedValues:
    """Replaces mappings by equal ones that take less memory."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, ...], Mapping[str, int]] = {}
        self._words: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    def words(self, words: Mapping[str, str]) -> Mapping[str, str]:
        """Return the first mapping of words that was equal to this one."""
        return self._words.setdefault(tuple(words.items()), words)

    def numbers(self, numbers: Mapping[str, float | None]) -> Mapping[str, float | None]:
        """Return an equal mapping of numbers, none of them nan."""
        key = tuple(numbers)
        names = self._names.setdefault(key, {name: index for index, name in enumerate(key)})
        values = array("d", (nan if number is None else number for number in numbers.values()))
        return NumbersByName(names, values)
