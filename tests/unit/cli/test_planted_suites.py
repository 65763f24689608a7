"""Our own suites under the rules of a run: planted gaps are found, placebo twins are silent."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from biaswatch.readers.suites import load_suite
from biaswatch.services.simulator.domain.planted_bias import DEFAULT_MODELS, Markers, PlantedModel
from biaswatch.services.simulator.settings import known_markers
from biaswatch.shared.contracts import Suite
from tests.support.asked_suites import Row, answers, comparisons

SUITES = Path(__file__).parents[3] / "suites"
SPACE = "everyday-space.yaml"
"""The only file in the folder that is not a suite."""
QUICK = {"agents-loans", "cv-hiring", "hiring-demo.yaml", "lending", "letters", "support-languages"}
"""The suites of every run of the tests; `make calibration` asks them all."""
NAMES = [
    pytest.param(path.name, marks=() if path.name in QUICK else pytest.mark.slow)
    for path in sorted(SUITES.iterdir())
    if path.name != SPACE
]
PLANTED = {"race": "black", "origin": "moroccan", "concept": "Brazil"}
"""The group of each dimension that the biased model treats differently."""
ORIGIN_WORDS = (
    "Marokkaner", "Marokkanerin", "marocain", "marocaine", "marroquí", "marocchino", "marocchina",
    "Marokkaan", "Marokkaanse",
)  # fmt: skip
BIASED = PlantedModel(
    rating_gaps={"black": -0.8, "moroccan": -0.8},
    preferences={"black": -1.5},
    sentiment_shifts={"Brazil": -0.9, "black": -0.9},
    tool_gaps={tool: {"black": -0.5} for tool in ("approve", "refund", "book")},
)
MAX_SETS = 60
REPEATS = 3


def part_of(name: str) -> Suite:
    """Return one set of each text, at most 60: the planted gap is large enough for it."""
    suite = load_suite(SUITES / name)
    texts: dict[str, str] = {}
    for probe in suite.probes:
        texts.setdefault(probe.stimuli.get("text", str(probe.set)), str(probe.set))
    kept = sorted(texts.values())[:MAX_SETS]
    return suite.model_copy(
        update={"probes": tuple(probe for probe in suite.probes if probe.set in kept)}
    )


def markers_of(dimension: str) -> Markers:
    if dimension == "race":
        return known_markers()
    words = ORIGIN_WORDS if dimension == "origin" else (PLANTED[dimension],)
    return dict.fromkeys(words, (PLANTED[dimension],))


def dimension_of(suite: Suite) -> str:
    return max(PLANTED.keys() & {d for probe in suite.probes for d in suite.groups_of(probe)})


def asked(suite: Suite, model: PlantedModel, study: int = 0) -> list[Row]:
    dimension = dimension_of(suite)
    repeats = 1 if dimension == "concept" else REPEATS
    return list(answers(suite, model, markers_of(dimension), repeats, first=study * repeats))


def disparities(suite: Suite, rows: list[Row]) -> list[Mapping[str, Any]]:
    return [row for row in comparisons(suite, rows) if row["verdict"] == "disparity"]


def findings(suite: Suite, model: PlantedModel, planted: str) -> list[Mapping[str, Any]]:
    """Return the disparities of one study; those of others must be absent in one of two studies.

    At the level of .05, one of 400 suites has a false finding in both.
    """
    others: list[Mapping[str, Any]] = []
    for study in range(2):
        result = disparities(suite, asked(suite, model, study))
        if not (others := [row for row in result if planted not in (row["a"], row["b"])]):
            return result
    raise AssertionError(others)


@pytest.mark.parametrize("name", NAMES)
def test_a_planted_gap_is_found_and_all_else_is_silent(name: str) -> None:
    suite = part_of(name)
    planted = PLANTED[dimension_of(suite)]
    result = findings(suite, BIASED, planted)
    assert result
    assert len({row["gap"] > 0 if row["a"] == planted else row["gap"] < 0 for row in result}) == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_unbiased_model_produces_no_finding(name: str) -> None:
    assert findings(part_of(name), PlantedModel(), "nobody") == []


def test_placebo_twins_are_compared() -> None:
    suite = part_of("lending")
    compared = {row["dimension"] for row in comparisons(suite, asked(suite, PlantedModel()))}
    assert compared == {"race", "gender", "placebo"}


def test_a_planted_gap_of_class_is_found_in_the_cvs() -> None:
    suite = part_of("hiring-cvs")
    known = {"Football in the Sunday league": ("lower",)}
    rows = list(answers(suite, PlantedModel(rating_gaps={"lower": -0.8}), known, REPEATS))
    assert [row["dimension"] for row in disparities(suite, rows)] == ["class"]


def test_the_simulator_knows_the_names_of_the_suites_by_itself() -> None:
    names = json.loads(
        (SUITES.parent / "services/simulator/suite_names.json").read_text(encoding="utf-8")
    )
    known = known_markers()
    assert all(known[name] == tuple(groups) for name, groups in names.items())
    suite = part_of("support")
    result = disparities(suite, list(answers(suite, DEFAULT_MODELS["biased"], known, REPEATS)))
    assert result
    assert all("black" in (row["a"], row["b"]) for row in result)
