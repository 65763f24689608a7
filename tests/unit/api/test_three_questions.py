"""The headline of `bw.diagnose` follows the plan, and the p-values of the three questions nest."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import biaswatch as bw

TEXTS = 12
RANDOM = ["name", "text"]


def crossed(
    names: int = 6, *, gap: float = 0.0, name_sd: float = 0.1, seed: int = 1
) -> pd.DataFrame:
    """Return ratings of every name with every text; a text is the set of its twins."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        [(f"{group}{name}", group, f"t{text}") for text in range(TEXTS) for group in "ab"
         for name in range(names)],
        columns=["name", "group", "text"],
    )  # fmt: skip
    effects = {name: rng.normal(0, name_sd) for name in frame["name"].unique()}
    frame["rating"] = 3 + gap * (frame["group"] == "a") + frame["name"].map(effects)
    frame["rating"] += rng.normal(0, 0.3, len(frame))
    frame["unit"], frame["set"] = frame["name"] + frame["text"], frame["text"]
    return frame


def diagnosed(frame: pd.DataFrame, **plan: Any) -> dict[str, Any]:
    """Return the only comparison of a table of twins."""
    plan = {"unit": "unit", "set": "set", "permutations": 0, **plan}
    row: dict[str, Any] = (
        bw.diagnose(frame, group="group", feature="rating", **plan).comparisons.iloc[0].to_dict()
    )
    return row


def test_a_tolerance_makes_the_gap_the_headline_whatever_else_is_declared() -> None:
    row = diagnosed(crossed(gap=1.0), random=RANDOM, tolerance=0.2)
    assert (row["headline"], row["verdict"], row["summary"]) == ("gap", "disparity", "disparity")
    row = diagnosed(crossed(gap=0.3), tolerance=1.0, ranges={"rating": (1, 5)})
    assert row["same_treatment"] == "differs"
    assert (row["headline"], row["summary"]) == ("gap", "no_disparity")


def test_random_factors_that_are_large_enough_make_the_group_effect_the_headline() -> None:
    row = diagnosed(crossed(gap=1.0), random=RANDOM)
    assert (row["headline"], row["scope"]) == ("group_effect", "beyond these names and texts")
    assert (row["group_effect"], row["summary"]) == ("differs", "disparity")


def test_too_few_names_leave_same_treatment_as_the_headline() -> None:
    row = diagnosed(crossed(names=4, gap=1.0), random=RANDOM)
    assert (row["headline"], row["scope"]) == ("same_treatment", "about these names")
    assert (row["group_effect"], row["p_group_effect"]) == ("too few names", None)
    assert "name" in row["group_effect_reason"]
    assert (row["same_treatment"], row["summary"]) == ("differs", "disparity")


def test_twins_alone_make_same_treatment_the_headline() -> None:
    row = diagnosed(crossed(gap=1.0))
    assert (row["headline"], row["scope"]) == ("same_treatment", "about these names and texts")
    assert row["group_effect"] is None
    assert row["group_effect_reason"] == "no random factor is declared"


def test_without_twins_and_factors_the_gap_is_the_headline() -> None:
    row = diagnosed(crossed(gap=1.0), set=None)
    assert (row["headline"], row["scope"], row["same_treatment"]) == ("gap", "", None)
    assert "received different questions" in row["same_treatment_reason"]


@pytest.mark.parametrize("plan", [{"random": RANDOM}, {}])
def test_answers_do_not_move_the_headline(plan: dict[str, Any]) -> None:
    frame = crossed()
    other = frame.assign(rating=np.where(frame["name"].isin(["a0", "a1", "b0"]), np.nan, 3.0))
    headlines = {diagnosed(of, **plan)["headline"] for of in (frame, crossed(gap=2.0), other)}
    assert len(headlines) == 1


@pytest.mark.parametrize("name_sd", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_the_p_values_of_the_three_questions_nest(name_sd: float, seed: int) -> None:
    gap = (0.0, 0.3)[seed % 2]
    row = diagnosed(crossed(gap=gap, name_sd=name_sd, seed=seed), random=RANDOM)
    assert row["p_same_treatment"] <= row["p_group_effect"] <= row["p_adjusted"]
    if row["verdict"] == "disparity":
        assert row["group_effect"] == "differs"
    if row["group_effect"] == "differs":
        assert row["same_treatment"] == "differs"


def test_names_that_differ_are_no_disparity_between_groups() -> None:
    """Twins with these names are treated differently, which shows nothing about the group."""
    row = diagnosed(crossed(name_sd=0.6, seed=2), random=RANDOM)
    assert (row["same_treatment"], row["group_effect"]) == ("differs", "not shown")
    assert (row["verdict"], row["summary"]) == ("inconclusive", "inconclusive")


@pytest.mark.parametrize(("missing", "survives"), [(1, True), (5, False)])
def test_missing_answers_are_tested_by_the_exchanges_of_the_verdict(
    missing: int, survives: bool
) -> None:
    """Seven sets that agree have p = 0.016, which Bonferroni's correction over four would lose."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"set": np.repeat(np.arange(7 + missing), 2)})
    frame["group"] = list("ab") * (7 + missing)
    frame["unit"] = frame["set"].astype(str) + frame["group"]
    features = [f"f{number}" for number in range(4)]
    for feature in features:
        frame[feature] = 2 + 2.0 * (frame["group"] == "a") + rng.normal(0, 0.2, len(frame))
    low = 1.0 if missing == 1 else 3.0
    for place in range(missing):
        frame.loc[2 * place : 2 * place + 1, "f0"] = [np.nan, low]
    rows = bw.diagnose(
        frame, group="group", feature=features, unit="unit", set="set", permutations=0,
        ranges=dict.fromkeys(features, (1.0, 5.0)),
    ).comparisons.set_index("feature")  # fmt: skip
    assert set(rows["same_treatment"]) == {"differs"}
    assert bool(rows.loc["f0", "survives_missing"]) is survives
    assert rows.loc["f1", "survives_missing"]


def test_an_interval_with_random_names_stays_within_the_declared_range() -> None:
    decided = [1, 0, 1, 1, 0, 0, 1, 0]
    rows = pd.DataFrame(
        {
            "group": list("abababab"),
            "name": ["a0", "b0", "a1", "b1"] * 2,
            "text": [f"text {n // 2}" for n in range(8)],
            "hired": decided,
        }
    )
    diagnosis = bw.diagnose(
        rows, group="group", feature="hired", random=["name"], ranges={"hired": (0, 1)}
    )
    [low], [high] = diagnosis.comparisons["ci_low"], diagnosis.comparisons["ci_high"]
    assert (low, high) == (-1, 1)


def test_an_interval_without_0_beside_too_few_sets_says_what_was_not_shown() -> None:
    frame = crossed(gap=1.0)
    four = frame[frame["text"].isin(["t0", "t1", "t2", "t3"])]
    row = diagnosed(four, random=RANDOM)
    assert (row["verdict"], row["summary"]) == ("disparity", "inconclusive")
    result = bw.diagnose(
        four, group="group", feature="rating", unit="unit", set="set", random=RANDOM,
        permutations=0,
    )  # fmt: skip
    assert "not shown to be treated differently, adjusted p = 0.125" in str(result)


def test_the_summary_comes_before_the_answers_that_it_sums_up() -> None:
    diagnosis = bw.diagnose(
        crossed(), group="group", feature="rating", unit="unit", set="set", permutations=0
    )
    columns = [*diagnosis.comparisons]
    first = columns.index("summary_ci_high") + 1
    assert columns[first : first + 3] == ["p_summary", "summary", "same_treatment"]
    assert columns.index("verdict") < columns.index("units_a")


def test_a_compared_group_is_no_random_factor() -> None:
    with pytest.raises(bw.UsageError, match="group is a group, so it cannot be random"):
        diagnosed(crossed(), random=["group"])


@pytest.mark.parametrize(
    ("without", "warning"),
    [(1, "1 row has no group and is left out."), (2, "2 rows have no group and are left out.")],
)
def test_rows_without_a_group_are_counted_in_a_warning(without: int, warning: str) -> None:
    frame = crossed()
    frame.loc[: without - 1, "group"] = None
    result = bw.diagnose(frame, group="group", feature="rating", permutations=0)
    assert warning in result.warnings


def test_rows_without_a_name_are_counted_in_a_warning() -> None:
    frame = crossed()
    frame.loc[frame["name"] == "a0", "name"] = None
    result = bw.diagnose(
        frame, group="group", feature="rating", unit="unit", set="set", random=RANDOM,
        permutations=0,
    )  # fmt: skip
    assert any("Rows without a name (12)" in warning for warning in result.warnings)
