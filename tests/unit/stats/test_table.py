"""Tables: what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

from biaswatch.shared.stats.groups.cells import Measurements

TABLE = Measurements(
    np.array([[1.0, np.nan], [2.0, 5.0], [np.inf, 6.0]]),
    np.array([0, 1, 1]),
    ("a", "b"),
    ("x", "y"),
    np.array([[0.5, 1.0], [np.nan, 2.0], [1.0, 3.0]]),
)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"codes": np.array([0, 1])}, "2 codes"),
        ({"features": ("x",)}, "1 features"),
        ({"baseline": np.zeros((3, 1))}, "the baseline has shape"),
        ({"codes": np.array([0.0, 1.0, 1.0])}, "whole numbers"),
        ({"codes": np.array([0, 1, 2])}, "not one of 0 to 1"),
        ({"codes": np.array([0, -1, 1])}, "not one of 0 to 1"),
        ({"groups": ("a", "a")}, "a group is named twice"),
        ({"features": ("x", "x")}, "a feature is named twice"),
    ],
)
def test_a_table_that_disagrees_with_itself_is_refused(
    wrong: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        replace(TABLE, **wrong)  # type: ignore[arg-type]


def test_whole_numbers_become_float64() -> None:
    whole = Measurements(
        np.array([[1], [2]]), np.array([0, 0]), ("a",), ("x",), np.array([[1], [2]])
    )
    assert whole.values.dtype == np.float64
    assert whole.baseline is not None
    assert whole.baseline.dtype == np.float64
