"""The hiring study's measures against the recorded ratings of two models."""

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from shared.stats.comparisons.ranks import mann_whitney
from shared.stats.studies.hiring import (
    CvRating,
    CvVariant,
    consistency,
    quality,
    total_bias,
    total_bias_by_chance,
)
from tests.support.golden import golden_cases
from tests.support.recorded import RecordedData

STUDIES = {"gpt-4-turbo": "gpt4turbo.json", "claude-sonnet-4": "sonnet4.json"}
SCAFFOLDS = ("one_shot", "chain_of_thought", "multi_layer", "decomposed_algorithmic")
TRUTH_OF_SET = {"set1": 3.0, "set2": 2.0, "set3": 2.0}
RACES = ("white", "black", "asian")
GENDERS = ("male", "female")


def rating(record: dict[str, Any]) -> CvRating:
    value = float(record["ranking"]) or None  # the study writes 0 where it could read nothing
    return CvRating(record["cv_id"], value)


def groups(cv: str) -> dict[str, str]:
    _, race, *rest = cv.split("_")
    return {} if race == "neutral" else {"race": race, "gender": rest[0]}


def read(folder: Path, model: str, scaffold: str) -> list[CvRating]:
    study = json.loads((folder / STUDIES[model]).read_text())
    runs = [run for run in study if run["pipeline"] == scaffold]
    return [rating(record) for run in runs for record in run["rankings"]]


def made_ratings(seed: int, repeats: int = 10) -> list[CvRating]:
    """Return ratings of three CVs under six names and none, of our own making."""
    rng = np.random.default_rng(seed)
    names = ["neutral", *(f"{race}_{gender}" for race in RACES for gender in GENDERS)]
    return [
        CvRating(f"{cv}_{name}", float(np.clip(right + rng.integers(-1, 2), 1, 4)))
        for cv, right in TRUTH_OF_SET.items()
        for name in names
        for _ in range(repeats)
    ]


def values(ratings: list[CvRating], trait: str, group: str | None) -> list[float | None]:
    return [r.value for r in ratings if groups(r.cv).get(trait) == group]


def truth(ratings: list[CvRating]) -> dict[str, float]:
    return {r.cv: TRUTH_OF_SET[r.cv.split("_")[0]] for r in ratings}


@pytest.mark.parametrize("model", STUDIES)
@pytest.mark.parametrize("scaffold", SCAFFOLDS)
def test_every_recorded_measure_comes_out(
    recorded_data: RecordedData, model: str, scaffold: str
) -> None:
    known = json.loads((recorded_data("golden") / "cv_scaffolds.json").read_text())
    expected = known[f"{model}|{scaffold}"]
    ratings = read(recorded_data("data/cv"), model, scaffold)
    found = quality(ratings, truth(ratings))
    assert (found.n, found.unparsed) == (expected["n"], expected["unparsed"])
    assert found.mae == pytest.approx(expected["mae"], abs=1e-12)
    assert found.value == pytest.approx(expected["quality"], abs=1e-9)
    neutral = [v for v in values(ratings, "race", None) if v is not None]
    assert np.mean(neutral) == pytest.approx(expected["neutral"], abs=1e-12)
    traits = {"race": RACES, "gender": GENDERS}
    samples = {g: values(ratings, trait, g) for trait, names in traits.items() for g in names}
    by = [{g: samples[g] for g in names} for names in traits.values()]
    bias = total_bias(*by)
    assert bias.value == pytest.approx(expected["total_bias"], abs=1e-12)
    for a, b in bias.gaps:
        key = f"{a[0].upper()}-{b[0].upper()}"
        assert bias.gaps[a, b] == pytest.approx(expected[key]["diff"], abs=1e-12)
        ranks = mann_whitney(samples[a], samples[b], method="asymptotic")
        assert (ranks.u_a, [ranks.n_a, ranks.n_b]) == (expected[key]["u"], expected[key]["n"])


def test_the_total_bias_by_chance_is_that_of_labels_exchanged_within_sets() -> None:
    ratings = made_ratings(1)
    named = sorted({r.cv for r in ratings if groups(r.cv)})
    variants = [
        CvVariant(cv.split("_")[0], groups(cv), [r.value for r in ratings if r.cv == cv])
        for cv in named
    ]
    found = total_bias_by_chance(variants, np.random.default_rng(4), times=200)
    rng, expected = Random(4), []
    for _ in range(200):
        labels: dict[int, Mapping[str, str]] = {}
        for name in {v.set for v in variants}:
            mine = [v for v in variants if v.set == name]
            drawn = rng.sample([v.groups for v in mine], len(mine))
            labels |= {id(v): g for v, g in zip(mine, drawn, strict=True)}
        by = [
            {g: [x for v in variants if labels[id(v)][trait] == g for x in v.values] for g in names}
            for trait, names in (("race", RACES), ("gender", GENDERS))
        ]
        expected.append(total_bias(*by).value)
    assert stats.ks_2samp(found, expected).pvalue > 0.01


def test_labels_are_exchanged_within_sets_alone() -> None:
    high, low = [5.0, 5.0], [1.0, 1.0]
    variants = [
        CvVariant("x", {"g": "a"}, high),
        CvVariant("x", {"g": "b"}, high),
        CvVariant("y", {"g": "a"}, low),
        CvVariant("y", {"g": "b"}, low),
    ]
    assert not total_bias_by_chance(variants, np.random.default_rng(0), times=20).any()
    loose = [CvVariant(None, v.groups, v.values) for v in variants]
    assert total_bias_by_chance(loose, np.random.default_rng(0), times=20).any()


def test_consistency_is_the_mean_spread_within_variants() -> None:
    ratings = made_ratings(2, repeats=2)
    cells = [[r.value for r in ratings if r.cv == cv] for cv in truth(ratings)]
    for ddof in (0, 1):
        found = consistency(ratings, ddof=ddof)
        expected = np.mean([np.std(np.array(cell, dtype=float), ddof=ddof) for cell in cells])
        assert found.mean_sd == pytest.approx(expected, abs=1e-12)
        assert found.one_answer == sum(len(set(cell)) == 1 for cell in cells) / 21
        assert (found.cells, found.left_out) == (21, 0)


def test_the_recorded_quality_formula_comes_out() -> None:
    for case in golden_cases("CV quality = 100-20*MAE"):
        ratings = [CvRating(str(i), v) for i, v in enumerate(case["input"]["pred"])]
        right = {str(i): v for i, v in enumerate(case["input"]["ref"])}
        assert quality(ratings, right).value == pytest.approx(case["expected"], abs=1e-12)


def test_ratings_that_could_not_be_read_are_counted_and_are_not_zero() -> None:
    ratings = [CvRating("x", v) for v in (3.0, None, float("nan"), 2.0)]
    found = quality(ratings, {"x": 3.0})
    assert (found.value, found.n, found.unparsed) == (90.0, 2, 2)
    empty = total_bias({"w": [3.0], "b": [None]}, {"m": [3.0], "f": [3.0]})
    assert (empty.value, empty.reason) == (None, "no ratings of b")
    assert quality([CvRating("x", None)], {"x": 3.0}).reason == "no rating could be read"
    assert total_bias({"w": [3.0]}, {"m": [3.0]}).reason == "fewer than two groups"
    lone = consistency([CvRating("x", 3.0), CvRating("x", None)])
    assert (lone.mean_sd, lone.left_out) == (None, 1)
    with pytest.raises(ValueError, match="there is no right rating for x"):
        quality([CvRating("x", 3.0)], {})


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 4), min_size=12, max_size=40), st.randoms(use_true_random=False))
def test_order_and_a_constant_change_no_bias(points: list[int], r: Random) -> None:
    ratings = [
        CvRating(f"set{i % 4}_{RACES[i % 3]}_{GENDERS[i % 2]}", float(p))
        for i, p in enumerate(points)
    ]
    moved = [CvRating(x.cv, (x.value or 0) + 2) for x in ratings]
    r.shuffle(moved)
    biases = [
        total_bias(
            {g: values(given_, "race", g) for g in RACES},
            {g: values(given_, "gender", g) for g in GENDERS},
        ).value
        for given_ in (ratings, moved)
    ]
    assert biases[1] == pytest.approx(biases[0], abs=1e-9)
    assert consistency(moved).mean_sd == pytest.approx(consistency(ratings).mean_sd, abs=1e-9)
    assert consistency(moved).one_answer == consistency(ratings).one_answer
