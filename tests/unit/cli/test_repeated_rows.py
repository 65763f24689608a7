"""A table whose rows repeat prompts that nobody named says so, and names the likely column."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biaswatch.readers.repeats import intraclass_correlation
from biaswatch.readers.tables import TableColumns
from tests.support.tables import observations

RNG = np.random.default_rng(5)
PROMPTS, REPEATS = 24, 10


def repeated_frame(**more: Any) -> pd.DataFrame:
    """Return ten answers to each of 24 prompts, twelve about each group."""
    level = RNG.normal(size=PROMPTS)
    frame = pd.DataFrame(
        {
            "group": np.repeat(["a", "b"] * (PROMPTS // 2), REPEATS),
            "score": np.repeat(level, REPEATS) + RNG.normal(0, 0.3, PROMPTS * REPEATS),
        }
    )
    return frame.assign(**more)


def warnings_of(frame: pd.DataFrame, tmp_path: Path, **columns: Any) -> list[str]:
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return observations(path, TableColumns(["group"], ["score"], **columns))[1]


@pytest.mark.parametrize("name", ["prompt", "prompt_id", "question", "Item", "cv_id"])
def test_a_column_named_like_prompts_whose_values_repeat_is_named(
    tmp_path: Path, name: str
) -> None:
    frame = repeated_frame(
        **{name: np.repeat(range(PROMPTS), REPEATS), "model": ["x", "y"] * (PROMPTS * 5)}
    )
    [warning] = warnings_of(frame, tmp_path)
    assert f"add --unit {name}" in warning
    assert "240 rows share 24 values" in warning
    assert "score is similar within them" in warning


def test_a_column_of_another_name_is_named_where_values_cluster_in_it(tmp_path: Path) -> None:
    documents = [f"d{n}" for n in np.repeat(range(PROMPTS), REPEATS)]
    [warning] = warnings_of(repeated_frame(about=documents), tmp_path)
    assert "add --unit about" in warning


@pytest.mark.parametrize(
    "more",
    [
        {"model": ["x", "y"] * 120},
        {"row_id": range(240)},
        {"other_score": RNG.normal(size=240).round(0)},
        {"word": [f"w{n}" for n in RNG.integers(0, 20, 240)]},
    ],
)
def test_columns_that_name_no_prompts_are_left_alone(tmp_path: Path, more: dict[str, Any]) -> None:
    assert warnings_of(repeated_frame(**more), tmp_path) == []


def test_a_named_unit_or_set_needs_no_warning(tmp_path: Path) -> None:
    frame = repeated_frame(prompt=np.repeat(range(PROMPTS), REPEATS))
    assert warnings_of(frame, tmp_path, unit="prompt") == []
    assert warnings_of(frame, tmp_path, set="prompt") == []


def test_the_correlation_is_that_of_the_analysis_of_variance() -> None:
    values = np.array([9.0, 2, 5, 8, 6, 1, 3, 2, 8, 4, 6, 8, 7, 1, 2, 6, 10, 5, 6, 9, 6, 2, 4, 7])
    targets = np.repeat(np.arange(6), 4)  # the ratings of Shrout and Fleiss (1979), table 2
    correlation, p_value = intraclass_correlation(values, np.zeros(24, dtype=np.intp), targets)
    assert correlation == pytest.approx(0.17, abs=0.005)
    assert p_value == pytest.approx(0.165, abs=0.005)


def test_a_column_within_a_random_factor_needs_no_warning(tmp_path: Path) -> None:
    prompts = np.repeat(range(PROMPTS), REPEATS)
    frame = repeated_frame(prompt=prompts, text=[f"t{n}" for n in prompts])
    assert not warnings_of(frame, tmp_path, random=["text"])
