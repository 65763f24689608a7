"""Columns of blocks become columns of all parts, with nulls at places in no block."""

from typing import Any

import numpy as np
import pytest

from biaswatch.shared.contracts.column_joins import joined
from biaswatch.shared.contracts.columns import fields_in


@pytest.mark.parametrize("places", [[0, 1], [1, 2], [3], [0, 2]])
def test_a_block_of_some_places_leaves_the_others_null(places: list[int]) -> None:
    counts = np.arange(2 * len(places)).reshape(len(places), 2)
    columns = joined([(np.array(places), {"counts": {"array": counts}})], 4)
    rows: list[Any] = [{} for _ in range(4)]
    for place, row in zip(places, counts.tolist(), strict=True):
        rows[place] = {"counts": row}
    assert fields_in(columns, 4) == rows


def test_blocks_in_any_order_fill_their_places() -> None:
    blocks: list[tuple[Any, dict[str, dict[str, Any]]]] = [
        (np.array([2, 0]), {"gap": {"array": np.array([2.0, 0.0])}}),
        (np.array([1]), {"gap": {"same": 1.0}, "reason": {"same": "no sets"}}),
    ]
    assert fields_in(joined(blocks, 3), 3) == [
        {"gap": 0.0},
        {"gap": 1.0, "reason": "no sets"},
        {"gap": 2.0},
    ]
