"""Missing answers of twins: tested within the sets that have one answer alone."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import biaswatch as bw


def missingness(frame: pd.DataFrame, **options: Any) -> dict[str, Any]:
    diagnosis = bw.diagnose(
        frame, group="race", feature="score", permutations=0, **{"set": "set", **options}
    )
    [row] = diagnosis.parts["missingness"]
    return row


def twins(missing_a: np.ndarray, missing_b: np.ndarray) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    sides = [
        pd.DataFrame(
            {
                "race": race,
                "set": np.arange(len(missing)),
                "score": np.where(missing, np.nan, rng.normal(0, 1, len(missing))),
            }
        )
        for race, missing in (("a", missing_a), ("b", missing_b))
    ]
    return pd.concat(sides)


def test_it_is_the_exact_sign_test_of_sets_with_one_answer() -> None:
    both = np.arange(40) < 12  # twins that are both missing say nothing about the group
    row = missingness(twins(both | (np.arange(40) >= 31), both | (np.arange(40) == 20)))
    assert row["p_value"] == pytest.approx(stats.binomtest(1, 10, 0.5).pvalue)
    assert row["method"].startswith("sign flips within sets; in 10 of 40")


def test_twins_that_are_missing_together_are_no_difference() -> None:
    both = np.arange(40) < 12
    assert missingness(twins(both, both))["p_value"] == 1.0


def test_rows_without_sets_are_tested_as_before() -> None:
    frame = twins(np.arange(40) < 12, np.arange(40) < 2).drop(columns="set")
    row = missingness(frame, set=None)
    assert "chi-square" in row["method"] or "Fisher" in row["method"]


def test_of_three_groups_the_smallest_p_value_is_corrected() -> None:
    few = twins(np.arange(40) < 9, np.arange(40) < 0)
    third = few[few.race == "b"].assign(race="c")
    row = missingness(pd.concat([few, third]))
    assert row["p_value"] == pytest.approx(3 * 2.0**-8)
