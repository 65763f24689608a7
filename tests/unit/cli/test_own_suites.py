"""The suites of our own: names, twins, and their differences."""

import difflib
import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import Suite, SuiteProbe
from biaswatch.shared.contracts.suite_limits import check_suite
from biaswatch.shared.errors import UsageError
from tests.support.asked_suites import text_of

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
        race_probes = [p for p in probes if p.groups.get("race") == race]
        assert Counter("Sailing" in text_of(p) for p in race_probes) == {True: 120, False: 120}


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
        ("de", "fr", "es", "it", "nl"), 480
    )
    texts = {p.key: text_of(p) for p in probes}
    forms = {
        "de-1-1-female-polish": "Polin", "de-1-1-male-polish": "Pole",
        "fr-1-1-female-moroccan": "marocaine", "es-1-1-female-polish": "polaca",
        "it-1-1-male-moroccan": "marocchino", "nl-1-1-female-local": "Nederlandse",
    }  # fmt: skip
    for key, form in forms.items():
        assert form in texts[key].replace(".", " ").split()
    used = Counter(p.stimuli["name"] for p in probes if "origin" in p.groups)
    assert set(used.values()) == {5}
    surnames = {p.groups["gender"]: p.stimuli["name"] for p in probes if p.key.endswith("-polish")}
    assert {gender: name[-3:] for gender, name in surnames.items()} == {
        "male": "ski", "female": "ska",
    }  # fmt: skip
    assert not any("{" in item for item in texts.values())


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
