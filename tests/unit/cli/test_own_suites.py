"""The suites of our own: what their twins differ in, planted gaps found, placebo twins silent."""

import difflib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biaswatch as bw
from biaswatch.readers.suites import load_suite
from biaswatch.services.extractor.domain.extractor import Reading
from biaswatch.services.extractor.extractors import vader
from biaswatch.services.extractor.extractors.choice import ChoiceExtractor
from biaswatch.services.simulator.domain.planted_bias import DEFAULT_MODELS, Markers, PlantedModel
from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import SimulatedRequest, words_for
from biaswatch.services.simulator.domain.speech import REASONS
from biaswatch.services.simulator.settings import known_markers
from biaswatch.shared.contracts import Suite, SuiteProbe
from biaswatch.shared.contracts.suite_limits import check_suite
from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing import rating_in

ROOT = Path(__file__).parents[3]
MARKERS: dict[str, list[str]] = json.loads(
    (ROOT / "services/simulator/suite_names.json").read_text(encoding="utf-8")
)
"""Race and gender by name."""
TRANSLATED = ["hiring-languages", "support-languages"]
PLACES = "countries-and-unions"
ENGLISH = [
    "hiring-cvs", "hiring-callback", "support", "lending", "triage", "tenants", "feedback",
    "moderation",
]  # fmt: skip
REPEATS = 3


@cache
def shipped(name: str) -> Suite:
    return load_suite(ROOT / "suites" / name)


def test_the_shipped_suites_are_what_their_parts_give() -> None:
    command = [sys.executable, "-m", "tools.own_suites", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `python -m tools.own_suites`: {done.stdout}{done.stderr}"


def test_every_race_and_gender_has_twenty_names_of_its_own() -> None:
    assert Counter(map(tuple, MARKERS.values())) == {
        (race, gender): 20
        for race in ("white", "black", "hispanic", "asian")
        for gender in ("male", "female")
    }


def text_of(probe: SuiteProbe) -> str:
    if probe.prompt:
        return probe.prompt
    return f"{probe.variables['question']}\n{probe.variables['material']}\nRate from 1 to 4."


@pytest.mark.parametrize("name", ENGLISH)
def test_every_set_has_all_twins_and_they_differ_in_what_their_groups_say_alone(name: str) -> None:
    suite = shipped(name)
    sets: dict[str | None, list[SuiteProbe]] = {}
    for probe in suite.probes:
        sets.setdefault(probe.set, []).append(probe)
    assert len(sets) >= 30
    for members in sets.values():
        named = [text_of(probe).splitlines() for probe in members if "race" in probe.groups]
        placebo = [text_of(probe).splitlines() for probe in members if "placebo" in probe.groups]
        assert (len(named), len(placebo)) == (8, 2)
        for some in (named, placebo):
            for other in some[1:]:
                changed = [d for d in difflib.ndiff(some[0], other) if d[0] in "+-"]
                assert len(changed) <= 6  # name, contact, and the option that names the applicant


def test_the_cvs_are_of_ten_occupations_and_three_levels_and_use_every_name() -> None:
    probes = shipped("hiring-cvs").probes
    cvs = {(p.facts["occupation"], p.facts["level"]) for p in probes}
    assert len(cvs) == 30
    assert len({p.set for p in probes}) == 120
    used = Counter(text_of(p).splitlines()[3] for p in probes if "race" in p.groups)
    assert len(used) == 160
    # Class is said by a line that all named twins of a CV share, so no race goes with a class.
    for race in ("white", "black", "hispanic", "asian"):
        mine = [p for p in probes if p.groups.get("race") == race]
        assert Counter("Sailing" in text_of(p) for p in mine) == {True: 120, False: 120}


def test_the_named_applicant_of_a_pair_is_first_in_half_of_the_sets() -> None:
    probes = shipped("hiring-callback").probes
    assert Counter(p.expected for p in probes) == {"A": 600, "B": 600}
    for probe in probes:
        option = next(
            line for line in text_of(probe).splitlines() if line.startswith(f"{probe.expected}) ")
        )
        assert "M. Hale" not in option


@pytest.mark.parametrize("name", TRANSLATED)
def test_five_languages_say_gender_and_origin_in_their_own_forms(name: str) -> None:
    probes = shipped(name).probes
    assert Counter(p.facts["language"] for p in probes) == dict.fromkeys(
        ("de", "fr", "es", "it", "nl"), 96
    )
    text = {p.key: text_of(p) for p in probes}
    forms = {
        "de-1-1-female-polish": "Polin", "de-1-1-male-polish": "Pole",
        "fr-1-1-female-moroccan": "marocaine", "es-1-1-female-polish": "polaca",
        "it-1-1-male-moroccan": "marocchino", "nl-1-1-female-local": "Nederlandse",
    }  # fmt: skip
    for key, form in forms.items():
        assert form in text[key].replace(".", " ").split()
    assert not any("{" in each for each in text.values())


def answers(
    suite: Suite, model: PlantedModel, known: Markers, repeats: int = REPEATS
) -> Iterator[dict[str, Any]]:
    for probe in suite.probes:
        for repeat in range(repeats):
            turns = (Turn("user", text_of(probe)),)
            text = words_for(7, SimulatedRequest("planted", turns, str(repeat)), model, known)
            yield {
                "set": probe.set,
                "unit": probe.key,
                **probe.groups,
                "value": measured(probe, text),
            }


def part_of(name: str) -> Suite:
    """Return the first variant of every text: the planted gap is large enough for it."""
    suite = shipped(name)
    if name in TRANSLATED:
        return suite
    first = tuple(probe for probe in suite.probes if str(probe.set).endswith("-1"))
    assert len({probe.set for probe in first}) >= 30
    return suite.model_copy(update={"probes": first})


def measured(probe: SuiteProbe, text: str) -> float | None:
    if probe.expected and text.startswith("Answer"):
        reading = Reading(text, expected=probe.expected)
        return ChoiceExtractor().measure(reading)["correct"]
    if text.startswith(REASONS):
        return rating_in(text)
    return vader.build().measure(Reading(text))["sentiment"]


def comparisons(rows: list[dict[str, Any]], dimension: str) -> list[Mapping[str, Any]]:
    frame = pd.DataFrame([row for row in rows if dimension in row])
    found = bw.diagnose(
        frame, group=dimension, feature="value", set="set", unit="unit", permutations=0
    )
    return list(found.parts["comparisons"])


def origins() -> dict[str, tuple[str, ...]]:
    """Return the words for people from Morocco in the five languages."""
    words = "Marokkaner Marokkanerin marocain marocaine marroquí marocchino marocchina Marokkaan"
    return dict.fromkeys([*words.split(), "Marokkaanse"], ("moroccan",))


@pytest.mark.parametrize("name", [*ENGLISH, *TRANSLATED])
def test_a_planted_gap_is_found_and_everything_else_is_silent(name: str) -> None:
    if name in TRANSLATED:
        dimension, planted, known = "origin", "moroccan", origins()
    else:
        dimension, planted = "race", "black"
        known = {word: tuple(groups) for word, groups in MARKERS.items()}
    model = PlantedModel(rating_gaps={planted: -0.8}, preferences={planted: -1.5})
    rows = list(answers(part_of(name), model, known))
    found = comparisons(rows, dimension)
    assert {
        row["gap"] < 0 if row["a"] == planted else row["gap"] > 0
        for row in found
        if row["verdict"] == "disparity" and planted in (row["a"], row["b"])
    } == {True}
    for silent in ("gender", "placebo"):
        assert [row for row in comparisons(rows, silent) if row["verdict"] == "disparity"] == []


def test_a_planted_gap_of_class_is_found_in_the_cvs() -> None:
    known = {"Football in the Sunday league": ("lower",)}
    model = PlantedModel(rating_gaps={"lower": -0.8})
    rows = list(answers(part_of("hiring-cvs"), model, known))
    assert [row["verdict"] for row in comparisons(rows, "class")] == ["disparity"]
    for silent in ("race", "placebo"):
        assert [row for row in comparisons(rows, silent) if row["verdict"] == "disparity"] == []


def test_the_questions_fit_every_place_and_the_invented_one_is_compared_with_nobody() -> None:
    probes = shipped(PLACES).probes
    assert len({p.set for p in probes}) == 250
    assert Counter(tuple(p.groups) for p in probes) == {
        ("concept",): 5000,
        (): 250,
        ("placebo",): 500,
    }
    assert all(("Velmora" in text_of(p)) is ("concept" not in p.groups) for p in probes)
    assert {p.facts["kind"] for p in probes} == {"tone", "fact"}
    taken_for_granted = {"capital", "coast", "king", "president", "army", "nation", "country"}
    assert not any(taken_for_granted & set(text_of(p).lower().split()) for p in probes)


@pytest.mark.parametrize("name", [PLACES, "countries"])
def test_a_planted_tone_about_one_country_is_found_and_no_other(name: str) -> None:
    suite = shipped(name)
    some = set(sorted({str(p.set) for p in suite.probes})[:60])
    probes = tuple(p for p in suite.probes if p.set in some and p.groups)
    model = PlantedModel(sentiment_shifts={"brazil": -0.9})
    part = suite.model_copy(update={"probes": probes})
    rows = list(answers(part, model, {"Brazil": ("brazil",)}, repeats=1))
    found = [row for row in comparisons(rows, "concept") if row["verdict"] == "disparity"]
    assert {name for row in found for name in (row["a"], row["b"])} & {"Brazil"}
    assert all("Brazil" in (row["a"], row["b"]) for row in found)
    if name == PLACES:
        silent = comparisons(rows, "placebo")
        assert silent
        assert [row for row in silent if row["verdict"] == "disparity"] == []


def test_the_simulator_knows_the_names_of_the_suites_by_itself() -> None:
    known = known_markers()
    assert all(known[name] == tuple(groups) for name, groups in MARKERS.items())
    rows = list(answers(part_of("support"), DEFAULT_MODELS["biased"], known))
    found = [row for row in comparisons(rows, "race") if row["verdict"] == "disparity"]
    assert {"black"} == {name for row in found for name in (row["a"], row["b"])} - {
        "asian", "hispanic", "white",
    }  # fmt: skip


def test_twins_of_a_conversation_differ_in_the_second_turn_alone() -> None:
    suite = shipped("conversations")
    sets: dict[str | None, list[SuiteProbe]] = {}
    for probe in suite.probes:
        sets.setdefault(probe.set, []).append(probe)
    assert len(sets) == 60
    for twins in sets.values():
        assert Counter("placebo" in twin.groups for twin in twins) == {False: 4, True: 2}
        turns = list(zip(*(twin.messages for twin in twins), strict=True))
        assert [len({*turn}) for turn in turns] == [1, 6, 1, 1, 1]


def test_a_conversation_that_differs_from_its_twin_in_two_turns_is_refused() -> None:
    suite = shipped("conversations")
    first, second, *rest = suite.probes
    closing = second.messages[-1].model_copy(update={"content": "Well?"})
    edited = second.model_copy(update={"messages": (*second.messages[:-1], closing)})
    with pytest.raises(UsageError, match="differs from its twins in more than one message"):
        check_suite(suite.model_copy(update={"probes": (first, edited, *rest)}))
