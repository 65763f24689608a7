"""The test of an interaction: t tests of contrasts, error rates, scales, missing combinations."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import biaswatch as bw
from calibration.shrunken_means import CrossedShape, coverage


def crossed(values: np.ndarray) -> pd.DataFrame:
    """Return rows of [sets, races, genders]."""
    sets, races, genders = np.indices(values.shape).reshape(3, -1)
    return pd.DataFrame(
        {"set": sets, "race": [f"r{n}" for n in races], "gender": [f"g{n}" for n in genders],
         "score": values.ravel()}
    )  # fmt: skip


def interaction_rows(frame: pd.DataFrame, **options: Any) -> list[Any]:
    diagnosis = bw.diagnose(
        frame, group=["race", "gender"], feature="score", permutations=0, **options
    )
    return diagnosis.parts["interactions"]


def test_in_complete_sets_it_is_the_paired_test_of_the_difference_of_gaps() -> None:
    values = np.random.default_rng(1).normal(0, 1, (9, 2, 2))
    [row] = interaction_rows(crossed(values), set="set")
    differences = values[:, 0, 0] - values[:, 0, 1] - values[:, 1, 0] + values[:, 1, 1]
    student = stats.ttest_1samp(differences, 0)
    assert row["statistic"] == pytest.approx(student.statistic**2)
    assert row["value"] == pytest.approx(differences.mean())
    low, high = student.confidence_interval(0.95)
    assert row["ci"] == pytest.approx([low, high])
    signs = np.array(np.meshgrid(*[[1, -1]] * 9)).reshape(9, -1)
    sums = np.abs(differences @ signs)
    exact = float((sums >= sums[0] - 1e-9).mean())
    assert row["p_value"] == pytest.approx(exact)
    assert "sign flips" in str(row["method"])


def test_a_second_answer_in_every_set_adds_no_degrees_of_freedom() -> None:
    frame = crossed(np.random.default_rng(4).normal(0, 1, (9, 3, 2)))
    [once] = interaction_rows(frame, set="set")
    [twice] = interaction_rows(pd.concat([frame, frame]), set="set")
    assert twice["degrees_of_freedom"] == once["degrees_of_freedom"] == [2, 7.0]
    assert twice["p_value"] == pytest.approx(once["p_value"], rel=0.2)


def test_without_sets_it_is_welchs_test_of_the_contrast() -> None:
    rng = np.random.default_rng(2)
    cells = [rng.normal(0, spread, n) for spread, n in ((1, 8), (2, 15), (1, 30), (3, 6))]
    frame = pd.DataFrame(
        [
            {"race": f"r{place // 2}", "gender": f"g{place % 2}", "score": value}
            for place, cell in enumerate(cells)
            for value in cell
        ]
    )
    [row] = interaction_rows(frame)
    variances = np.array([cell.var(ddof=1) / len(cell) for cell in cells])
    contrast = sum(s * cell.mean() for s, cell in zip((1, -1, -1, 1), cells, strict=True))
    freedom = variances.sum() ** 2 / sum(
        v**2 / (len(cell) - 1) for v, cell in zip(variances, cells, strict=True)
    )
    wanted = 2 * stats.t.sf(abs(contrast) / np.sqrt(variances.sum()), freedom)
    assert row["p_value"] == pytest.approx(wanted)
    assert row["degrees_of_freedom"] == [1, pytest.approx(freedom)]


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_added_effects_are_seldom_called_an_interaction(paired: bool) -> None:
    rng = np.random.default_rng(3)
    effects = np.array([0.0, 1.0, -1.0])[None, :, None] + np.array([0.0, 0.5])[None, None, :]
    small = 0
    for _ in range(100):
        base = rng.normal(0, 1, (10, 1, 1)) if paired else 0.0
        frame = crossed(effects + base + rng.normal(0, 1, (10, 3, 2)))
        [row] = interaction_rows(frame, **({"set": "set"} if paired else {}))
        small += float(row["p_value"]) <= 0.05
    assert small <= 12  # 5 expected


def test_an_interaction_is_found_and_depends_on_the_scale() -> None:
    rng = np.random.default_rng(4)
    odds = np.array([[0.03, 0.2], [0.13, 0.55]])  # log odds add up, differences do not
    drawn = (rng.random((900, 2, 2)) < odds).astype(float)
    rows = {row["scale"]: row for row in interaction_rows(crossed(drawn))}
    assert rows["difference"]["p_value"] < 0.001
    assert rows["log odds"]["p_value"] > 0.05


def test_of_larger_tables_the_largest_difference_of_gaps_is_named() -> None:
    values = np.random.default_rng(6).normal(0, 1, (30, 3, 2))
    values[:, 2, 1] -= 2.0
    diagnosis = bw.diagnose(
        crossed(values), group=["race", "gender"], feature="score", set="set", permutations=0
    )
    [row] = diagnosis.parts["interactions"]
    assert str(row["contrast"]).split(" - ")[1] == "r2 at g0 less that at g1"
    place = ["r0 - r2", "r1 - r2"].index(str(row["contrast"]).partition(" at ")[0])
    gaps = values[:, place, :] - values[:, 2, :]
    assert row["value"] == pytest.approx((gaps[:, 0] - gaps[:, 1]).mean())
    assert f"{row['contrast']}: -" in diagnosis.sentences[-1]


@pytest.mark.parametrize("paired", [True, False])
def test_its_interval_covers_and_leaves_out_0_only_where_the_test_is_significant(
    paired: bool,
) -> None:
    rng, effects = np.random.default_rng(8), np.array([[0.0, 0.0], [0.0, 0.8], [0.0, 1.6]])
    covered = 0
    for _ in range(40):
        base = rng.normal(0, 1, (12, 1, 1)) if paired else 0.0
        frame = crossed(effects + base + rng.normal(0, 1, (12, 3, 2)))
        [row] = interaction_rows(frame, **({"set": "set"} if paired else {}))
        a, b = (int(name[1]) for name in str(row["contrast"]).partition(" at ")[0].split(" - "))
        low, high = row["ci"]
        covered += low <= (effects[a, 0] - effects[b, 0]) - (effects[a, 1] - effects[b, 1]) <= high
        assert low <= 0 <= high or row["p_value"] <= 0.05
    assert covered >= 36  # 38 expected at least


@pytest.mark.parametrize("seed", [26, 29, 45])
def test_a_difference_of_gaps_that_is_the_same_in_every_set_has_no_test(seed: int) -> None:
    """Its variance is 0, of which rounding makes a tiny number."""
    values = np.round(np.random.default_rng([8, seed]).uniform(1, 4, (5, 3, 2)), 1)
    values[:, 1, 1] = values[:, 1, 0] + values[:, 0, 1] - values[:, 0, 0]
    [row] = interaction_rows(crossed(values), set="set")
    assert row["p_value"] is None
    assert row["reason"]


def test_too_few_combinations_have_no_test_but_a_reason() -> None:
    values = np.random.default_rng(5).normal(0, 1, (8, 2, 2))
    frame = crossed(values)
    frame = frame[~((frame.race == "r1") & (frame.gender == "g1"))]
    [row] = interaction_rows(frame)
    assert row["p_value"] is None
    assert "too few combinations" in str(row["reason"])


@pytest.mark.parametrize("truth", ["normal", "t3", "one"])
def test_intervals_of_shrunken_means_cover_on_average(truth: str) -> None:
    shape = CrossedShape(3, 4, (5, 20, 80), 1.0, truth)
    result = coverage(shape, 150, np.random.default_rng(6))
    assert result.average > 0.92
    assert result.width < 1.05


def test_shrunken_means_of_groups_have_intervals_in_the_table() -> None:
    values = np.random.default_rng(7).normal(0, 1, (12, 3, 4))
    diagnosis = bw.diagnose(
        crossed(values), group=["race", "gender"], feature="score", set="set", permutations=0
    )
    for row in diagnosis.parts["group_means"]:
        if row["shrunken_mean"] is not None:
            low, high = row["shrunken_ci"]
            assert low < row["shrunken_mean"] < high
