"""A table with a column of labels: gaps by the readings, and as labels correct them."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import biaswatch as bw
from biaswatch.shared.errors import UsageError

ROWS, LABELS = 400, 120


def letters(gap: float = 0.0, seed: int = 1) -> pd.DataFrame:
    """Return answers of two groups; the instrument finds rudeness to b that is not there."""
    rng = np.random.default_rng(seed)
    parts = []
    for group, rate, wrong in (("a", 0.2, 0.05), ("b", 0.2 + gap, 0.3)):
        truth = rng.random(ROWS) < rate
        read = np.where(truth, rng.random(ROWS) < 0.8, rng.random(ROWS) < wrong)
        label = np.where(np.arange(ROWS) < LABELS, truth.astype(float), np.nan)
        parts.append(
            pd.DataFrame({"race": group, "rude": read.astype(float), "truly": label, "all": truth})
        )
    return pd.concat(parts, ignore_index=True)


def test_labels_take_back_a_gap_that_the_instrument_made() -> None:
    diagnosis = bw.diagnose(letters(), group="race", feature="rude", labels="truly", permutations=0)
    assert diagnosis.has_disparity  # by the readings
    [row] = diagnosis.parts["corrections"]
    assert row["by_readings"] < -0.1
    assert row["ci"][0] < 0 < row["ci"][1]
    assert row["verdict"] == "inconclusive"
    assert row["labels"] == 2 * LABELS
    text = str(diagnosis)
    assert "by the readings" in text
    assert "as 240 labels correct it: inconclusive" in text
    assert "rude is not read alike for a and b" in text
    assert "drawn at random within each group" in text
    assert list(diagnosis.corrections["a"]) == ["a"]


def test_a_gap_that_is_there_is_kept_and_the_same_in_polars() -> None:
    frame = letters(gap=0.4)
    diagnosis = bw.diagnose(frame, group="race", feature="rude", labels="truly", permutations=0)
    other = bw.diagnose(
        pl.from_pandas(frame), group="race", feature="rude", labels="truly", permutations=0
    )
    [row] = diagnosis.parts["corrections"]
    assert row["verdict"] == "disparity"
    assert row["corrected"] == pytest.approx(-0.4, abs=0.12)
    assert row["ratio"] == pytest.approx(1 / 3, abs=0.15)
    assert other.parts["corrections"] == diagnosis.parts["corrections"]
    assert isinstance(other.corrections, pl.DataFrame)


def test_without_labels_nothing_is_corrected() -> None:
    diagnosis = bw.diagnose(letters(), group="race", feature="rude", permutations=0)
    assert len(diagnosis.corrections) == 0
    assert diagnosis.corrected_sentences == []
    assert "corrections" not in diagnosis.parts


def test_probabilities_undo_a_draw_that_took_more_of_what_is_rude() -> None:
    rng = np.random.default_rng(4)
    gaps: dict[str, list[float]] = {"known": [], "ignored": []}
    for seed in range(6):
        frame = letters(gap=0.3, seed=seed)
        frame["chance"] = np.where(frame["all"], 0.5, 0.1)
        drawn = rng.random(len(frame)) < frame["chance"]
        frame["label"] = frame["all"].astype(float).where(drawn)
        frame.loc[~drawn, "chance"] = np.nan  # as an export of what was drawn would have it
        common: dict[str, Any] = {
            "group": "race",
            "feature": "rude",
            "labels": "label",
            "permutations": 0,
        }
        known = bw.diagnose(frame, probability="chance", **common)
        ignored = bw.diagnose(frame, **common)
        for name, diagnosis in (("known", known), ("ignored", ignored)):
            gaps[name].append(diagnosis.parts["corrections"][0]["corrected"])
    assert np.mean(gaps["known"]) == pytest.approx(-0.3, abs=0.06)
    assert abs(np.mean(gaps["ignored"]) + 0.3) > abs(np.mean(gaps["known"]) + 0.3) + 0.02


def test_two_people_have_an_agreement_and_their_mean_counts() -> None:
    frame = letters()
    frame["ben"] = frame["truly"].where(frame.index % 10 > 0, 1 - frame["truly"])
    diagnosis = bw.diagnose(
        frame, group="race", feature="rude", labels=["truly", "ben"], permutations=0
    )
    [row] = diagnosis.parts["corrections"]
    assert row["people"] == 2
    assert 0.5 < row["agreement"] < 0.95
    assert "240 labels by 2 people" in str(diagnosis)


def test_two_groupings_and_two_numbers_are_one_family() -> None:
    frame = letters()
    frame["gender"] = np.where(frame.index % 2, "f", "m")
    frame["mood"] = np.clip(np.round(3 + frame["rude"] + frame.index % 3 - 1), 1, 5)
    frame["felt"] = frame["mood"].where(frame["truly"].notna())
    diagnosis = bw.diagnose(
        frame, group=["race", "gender"], feature=["rude", "mood"], permutations=0,
        labels={"rude": "truly", "mood": "felt"}, ranges={"mood": (1, 5)},
    )  # fmt: skip
    rows = diagnosis.parts["corrections"]
    assert {(row["feature"], row["dimension"]) for row in rows} == {
        ("rude", "race"), ("rude", "gender"), ("mood", "race"), ("mood", "gender"),
    }  # fmt: skip
    assert "one of 4 comparisons" in str(diagnosis)


@pytest.mark.parametrize(
    ("change", "asked", "message"),
    [
        ({"truly": 7.0}, {}, "declare the smallest and the largest value, as in rude=1:5"),
        ({"truly": 7.0}, {"ranges": {"rude": (0, 1)}}, "the label 7 lies outside the scale of"),
        ({"truly": "perhaps"}, {}, "cells are not numbers: 'perhaps' (row "),
        ({"chance": 2.0}, {"probability": "chance"}, "a sampling probability must be above 0"),
        ({"chance": np.nan}, {"probability": "chance"}, "it has a label of rude but no number in"),
        ({}, {"labels": "nobody"}, "has no column 'nobody'"),
        ({}, {"labels": {"other": "truly"}}, "labels of 'other', which is not among"),
        ({}, {"labels": (), "probability": "rude"}, "is that of labels"),
    ],
)
def test_what_cannot_be_labels_is_said_in_a_sentence(
    change: dict[str, Any], asked: dict[str, Any], message: str
) -> None:
    frame = letters().astype(object).assign(**change)
    given: dict[str, Any] = {
        "group": "race",
        "feature": "rude",
        "labels": "truly",
        "permutations": 0,
        **asked,
    }
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        bw.diagnose(frame, **given)


def test_few_labels_and_rows_without_any_are_said() -> None:
    frame = letters()
    frame.loc[frame.groupby("race").cumcount() >= 10, "truly"] = np.nan
    few = bw.diagnose(frame, group="race", feature="rude", labels="truly", permutations=0)
    assert "a correction needs 20 labels of each group: a has 10, b has 10" in str(few)
    frame = letters()
    frame["gender"] = np.where(frame["truly"].isna() & (frame.index % 3 == 0), "x", "f")
    diagnosis = bw.diagnose(
        frame, group=["race", "gender"], feature="rude", labels="truly", permutations=0
    )
    assert any(
        "rows belong to crossings of groups without a labelled row" in w for w in diagnosis.warnings
    )
