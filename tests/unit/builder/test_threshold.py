from collections.abc import Sequence
from math import log2

import pytest

from biaswatch.building.keywords import words_above


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 100, 1000])
async def test_the_threshold_is_found_with_at_most_log2_n_plus_one_questions(size: int) -> None:
    words = [f"w{n}" for n in range(size)]
    for own in {0, 1, size // 3, size // 2, size - 1, size}:
        asked: list[int] = []

        async def associated(some: Sequence[str], own: int = own, asked: list[int] = asked) -> bool:
            asked.append(len(some))
            return any(word in words[:own] for word in some)

        assert await words_above(words, associated, shown=15) == words[:own]
        assert len(asked) <= log2(size) + 1
        assert max(asked) <= 15


async def test_without_words_nothing_is_asked() -> None:
    async def associated(some: Sequence[str]) -> bool:
        raise AssertionError(some)

    assert await words_above([], associated, shown=15) == []
