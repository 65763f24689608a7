"""Suites of shortlists: twins, places, planted gaps by rank, and silence elsewhere."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import biaswatch as bw
from biaswatch.building.shortlists import Candidate, Person, Shortlists
from biaswatch.cli.suites import app
from biaswatch.readers.suites import load_suite
from biaswatch.services.extractor.domain import Reading
from biaswatch.services.extractor.extractors import choice, ranking
from biaswatch.services.simulator.domain.planted_bias import PlantedModel
from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import SimulatedRequest, words_for
from biaswatch.services.simulator.settings import known_markers
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError

ROOT = Path(__file__).parents[3]
REPEATS = 2


def shipped() -> Suite:
    return load_suite(ROOT / "suites" / "shortlist")


def rows(suite: Suite, model: PlantedModel) -> Iterator[dict[str, Any]]:
    extractor = (
        choice.EXTRACTORS["choice"]
        if "choice" in suite.extractors
        else ranking.EXTRACTORS["ranking"]
    )
    for probe in suite.probes:
        for repeat in range(REPEATS):
            turns = (Turn("user", str(probe.prompt)),)
            request = SimulatedRequest("planted", turns, str(repeat))
            text = words_for(7, request, model, known_markers())
            options = dict.fromkeys(suite.options, "")
            values = extractor.measure(Reading(text, probe.expected, options=options))
            yield {"set": probe.set, "unit": probe.key, **probe.groups, **values}


def disparities(answers: list[dict[str, Any]], dimension: str, feature: str) -> set[str]:
    answers = [row for row in answers if dimension in row]
    findings = bw.diagnose(
        pd.DataFrame(answers), group=dimension, feature=feature, set="set", unit="unit",
        permutations=0,
    ).parts["comparisons"]  # fmt: skip
    assert findings
    return {
        name
        for row in findings
        if row["verdict"] == "disparity"
        for name in (str(row["a"]), str(row["b"]))
    }


def test_a_planted_gap_by_rank_is_found_and_everything_else_is_silent() -> None:
    answers = list(rows(shipped(), PlantedModel(preferences={"black": -2.5})))
    for feature in ("rank", "selected"):
        assert "black" in disparities(answers, "race", feature)
        for silent in ("gender", "placebo"):
            assert disparities(answers, silent, feature) == set()


def test_a_preference_for_the_first_place_alone_is_no_gap() -> None:
    answers = list(rows(shipped(), PlantedModel(first_place=3.0)))
    assert 0.2 < sum(row["selected"] for row in answers) / len(answers) < 0.3  # a quarter
    for dimension in ("race", "gender", "placebo"):
        assert disparities(answers, dimension, "rank") == set()


def test_every_twin_of_a_set_has_the_same_place_and_every_place_is_used_equally() -> None:
    suite = shipped()
    places: dict[str | None, set[str | None]] = {}
    for probe in suite.probes:
        places.setdefault(probe.set, set()).add(probe.expected)
    assert {len(letters) for letters in places.values()} == {1}
    assert Counter(letter for letters in places.values() for letter in letters) == dict.fromkeys(
        "ABCD", 8
    )


CANDIDATES = [
    Candidate("1", f"C. {n}", f"{n} years in the trade") for n in ("Ames", "Bell", "Cole")
]
PEOPLE = [Person("Emily Green", {"race": "white"}), Person("Imani Green", {"race": "black"})]


def test_a_choice_can_be_asked_for_instead() -> None:
    suite = Shortlists("Whom?", CANDIDATES, PEOPLE, choose=True).suite("own")
    assert suite.needs == "choice"
    assert len(suite.probes) == 3 * 4
    text = str(suite.probes[0].prompt)
    assert text.splitlines()[2] == "A) Emily Green: Ames years in the trade"
    assert text.endswith("End with a line 'Answer: <letter>'.")


@pytest.mark.parametrize(
    ("candidates", "people", "sentence"),
    [
        (CANDIDATES[:1], PEOPLE, "from 2 to 26"),
        ([*CANDIDATES, Candidate("2", "D. Dunn", "")], PEOPLE, "same number"),
        (CANDIDATES, PEOPLE[:1], "of two groups"),
        (CANDIDATES, [*PEOPLE, Person("X", {})], "needs a group"),
        (CANDIDATES, [*PEOPLE, Person("C. Ames", {"race": "asian"})], "is also that of"),
    ],
)
def test_tables_that_make_no_list_are_refused(
    candidates: list[Candidate], people: list[Person], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        Shortlists("Whom?", candidates, people).suite("own")


def test_the_verb_makes_a_suite_of_two_tables(tmp_path: Path) -> None:
    candidates, names, folder = tmp_path / "c.csv", tmp_path / "n.csv", tmp_path / "mine"
    candidates.write_text("name,text\nC. Ames,nine years\nD. Bell,ten years\n", encoding="utf-8")
    names.write_text("name,race\nEmily Green,white\nImani Green,black\n", encoding="utf-8")
    arguments = ["shortlist", str(candidates), "--names", str(names), "--ask", "Whom do you meet?"]
    done = CliRunner().invoke(app, [*arguments, "-o", str(folder)])
    assert done.exit_code == 0, done.output
    suite = load_suite(folder)
    assert (suite.name, len(suite.probes), suite.options) == ("mine", 8, ("A", "B"))
