"""Drawing a part of what there is, by seed."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def drawn(things: Sequence[T], most: int | None, luck: Random) -> list[T]:
    """Return at most so many, drawn without repeats, in the order they had."""
    if most is None or len(things) <= most:
        return list(things)
    return [things[place] for place in sorted(luck.sample(range(len(things)), most))]
