"""Two dimensions of the same few sets are corrected together, so that six sets can find a gap."""

import numpy as np
import pandas as pd
import pytest

import biaswatch as bw
from biaswatch.render.table_diagnosis import print_tables


def table(sets: int, race_gap: float) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = [
        (f"s{place}", f"s{place}{race}{sex}", race, sex, 3 + race_gap * (race == "a") + noise)
        for place in range(sets)
        for race in "ab"
        for sex in "mf"
        for noise in rng.normal(0, 0.5, 1)
    ]
    return pd.DataFrame(rows, columns=["set", "unit", "race", "sex", "rating"])


def answers(frame: pd.DataFrame) -> dict[str, str]:
    rows = bw.diagnose(
        frame, group=["race", "sex"], feature="rating", unit="unit", set="set", permutations=0
    ).comparisons
    return dict(zip(rows["dimension"], rows["same_treatment"], strict=True))


def test_six_sets_find_one_of_two_dimensions() -> None:
    assert answers(table(6, 2.0)) == {"race": "differs", "sex": "not shown"}


def test_many_sets_are_corrected_by_holms_method() -> None:
    assert answers(table(40, 0.6)) == {"race": "differs", "sex": "not shown"}


def test_equal_groups_are_not_found() -> None:
    assert set(answers(table(6, 0.0)).values()) == {"not shown"}


def test_a_comparison_of_a_bank_differs_where_something_differs_anywhere() -> None:
    rng = np.random.default_rng(4)
    rows = [
        (f"s{place}", f"s{place}{group}", group, 3 + (group == "a") * 1.0 + noise)
        for place in range(3)
        for group in "ab"
        for noise in rng.normal(0, 0.3, 6)
    ]
    frame = pd.DataFrame(rows, columns=["set", "unit", "group", "rating"])
    result = bw.diagnose(
        frame, group="group", feature="rating", unit="unit", set="set", claim="bank"
    )
    row = result.comparisons.iloc[0]
    assert row["same_treatment"] == "differs"
    assert result.result.about["p_anywhere"] <= 0.05


def test_labels_assigned_at_random_need_no_sets() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"group": ["a", "b"] * 8, "length": rng.normal(100, 10, 16)})
    frame.loc[frame["group"] == "a", "length"] += 30
    rows = {
        assigned: bw.diagnose(frame, group="group", feature="length", assigned=assigned)
        .comparisons.iloc[0]
        .to_dict()
        for assigned in (False, True)
    }
    assert rows[True]["same_treatment"] == "differs"
    assert not rows[False]["same_treatment"]
    assert "labels were not random" in rows[False]["same_treatment_reason"]
    assert rows[False]["verdict"] == rows[True]["verdict"]


def test_a_table_of_assigned_labels_does_not_speak_of_twins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame = pd.DataFrame({"group": ["a", "b"] * 8, "length": [30.0, 10.0] * 7 + [31.0, 9.0]})
    result = bw.diagnose(frame, group="group", feature="length", assigned=True)
    print_tables(result.parts, result.result.about, [])
    text = capsys.readouterr().out
    assert "Column labels: do labels that were assigned at random change answers?" in " ".join(
        text.split()
    )
    assert "twins" not in text.casefold()
