"""Batches lose nothing, keep the order, and shrink when there is no room."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaswatch.shared.models.forward_passes import (
    BatchSizes,
    OutOfMemory,
    batches,
    best_size,
    length_class,
    run_in_batches,
)


def sized(size: int) -> BatchSizes:
    return BatchSizes(lambda _: size)


@given(st.lists(st.integers(1, 600), max_size=50), st.integers(1, 9))
def test_every_item_is_in_one_batch_and_like_lengths_are_together(
    lengths: list[int], size: int
) -> None:
    result = list(batches(lengths, sized(size).of))
    assert sorted(place for batch in result for place in batch) == list(range(len(lengths)))
    assert [lengths[place] for batch in result for place in batch] == sorted(lengths, reverse=True)
    assert all(len(batch) <= size for batch in result)


def test_results_come_back_in_the_order_of_the_items() -> None:
    run = run_in_batches([3, 1, 2], [3, 1, 2], lambda items: [10 * n for n in items], sized(2))
    assert run == [30, 10, 20]


def test_one_bad_item_costs_one_item() -> None:
    def forward(items: Sequence[int]) -> list[int]:
        if 2 in items:
            raise ValueError("two")
        return list(items)

    run = run_in_batches([1, 2, 3, 4], [1, 1, 1, 1], forward, sized(4))
    assert [run[0], run[2], run[3]] == [1, 3, 4]
    assert isinstance(run[1], ValueError)


def test_what_does_not_fit_is_halved_and_stays_halved() -> None:
    tried: list[int] = []

    def forward(items: Sequence[int]) -> list[int]:
        tried.append(len(items))
        if len(items) > 3:
            raise OutOfMemory
        return list(items)

    sizes = sized(8)
    assert run_in_batches(list(range(16)), [5] * 16, forward, sizes) == list(range(16))
    assert tried[:3] == [8, 4, 2]
    assert sizes.of(5) == 2
    assert sizes.of(500) == 2


def test_an_item_that_never_fits_costs_one_item() -> None:
    def forward(items: Sequence[int]) -> list[int]:
        if 9 in items:
            raise OutOfMemory
        return list(items)

    run = run_in_batches([1, 9, 2], [1, 1, 1], forward, sized(3))
    assert [run[0], run[2]] == [1, 2]
    assert isinstance(run[1], OutOfMemory)


@pytest.mark.parametrize(
    ("each_s", "best"),
    [
        ({1: 1.0, 2: 0.6, 4: 0.5, 8: 0.49, 16: 0.48}, 4),
        ({1: 1.0, 2: 1.2, 4: 1.3, 8: 0.1, 16: 0.1}, 1),
        ({1: 1.0, 2: 0.98, 4: 0.9, 8: 0.5, 16: 0.4}, 16),
    ],
)
def test_the_size_is_the_quickest_a_text_and_the_smaller_of_equals(
    each_s: dict[int, float], best: int
) -> None:
    assert best_size(lambda size: each_s[size] * size, sorted(each_s)) == best


def test_a_size_that_does_not_fit_ends_the_search() -> None:
    def seconds_for(size: int) -> float:
        if size > 4:
            raise OutOfMemory
        return 1.0

    assert best_size(seconds_for, [1, 2, 4, 8, 16]) == 4


def test_lengths_have_classes() -> None:
    assert [length_class(n) for n in (1, 16, 17, 512, 9000)] == [16, 16, 32, 512, 512]
