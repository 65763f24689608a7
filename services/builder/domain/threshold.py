"""Where a concept's own words begin: found by bisection, with few questions."""

from collections.abc import Awaitable, Callable, Sequence

Associated = Callable[[Sequence[str]], Awaitable[bool]]
"""Whether any of these words belongs to the concept."""


async def words_above(ranked: Sequence[str], associated: Associated, shown: int) -> list[str]:
    """Return the words, nearest first, down to the point below which none belongs to the concept.

    Each question halves the places where that point may be, so there are at most log2(n) + 1 of
    them. A question shows the nearest of the words below the place that is tried.
    """
    least, most = 0, len(ranked)
    while least < most:
        place = (least + most) // 2
        if await associated(ranked[place : place + shown]):
            least = place + 1
        else:
            most = place
    return list(ranked[:least])
