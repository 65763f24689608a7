"""Dixon's Q against its textbook formulas and published critical values."""

import numpy as np
import pytest

from biaswatch.shared.stats.groups.spreads import dixon

FORMS = {
    3: (1, 0), 7: (1, 0), 8: (1, 1), 10: (1, 1), 11: (2, 1), 13: (2, 1), 14: (2, 2), 21: (2, 2),
    40: (2, 2),
}  # fmt: skip


@pytest.mark.parametrize("n", FORMS)
def test_each_size_has_its_own_ratio(n: int) -> None:
    neighbour, trimmed = FORMS[n]
    x = np.sort(np.random.default_rng(n).normal(0, 1, n))
    low = (x[neighbour] - x[0]) / (x[n - 1 - trimmed] - x[0])
    high = (x[-1] - x[n - 1 - neighbour]) / (x[-1] - x[trimmed])
    p_values = dixon(x[:, None], np.array([n]))
    assert (p_values.low[0], p_values.high[0]) == pytest.approx((low, high), abs=1e-12)
    mirrored = dixon(-x[::-1, None], np.array([n]))
    assert (mirrored.high[0], mirrored.low[0]) == pytest.approx((low, high), abs=1e-12)


def test_columns_of_different_length_do_not_disturb_one_another() -> None:
    columns = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 4.0], [9.0, np.nan]])
    p_values = dixon(columns, np.array([4, 3]))
    assert p_values.high == pytest.approx([6 / 8, 2 / 3])


@pytest.mark.parametrize("values", [[1.0], [1.0, 2.0], [3.0, 3.0, 3.0]])
def test_too_few_or_equal_values_have_no_ratio(values: list[float]) -> None:
    p_values = dixon(np.array(values)[:, None], np.array([len(values)]))
    assert np.isnan([p_values.low[0], p_values.high[0], p_values.largest[0]]).all()
