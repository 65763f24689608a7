"""What went wrong in the system this one learns from, defect by defect, each now right."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from biaswatch.building.build import BuiltSuite
from biaswatch.building.composition import build_of
from biaswatch.building.model_questions import ModelQuestion, ModelReply
from biaswatch.building.plan import Plan
from biaswatch.building.settings import BuilderSettings

ROOT = Path(__file__).parents[3]
TEXT = (
    "The plumed bakers of Velmora have always worked at night. The ships of Velmora are known for"
    " their harbour pilots. NASA and the USA do business with Velmora in every season. AC/DC have"
    " played a loud concert in Velmora for us."
)


class Model:
    """Answers whether a word is one of its own, and gives each a counterpart."""

    name = "tester"

    def __init__(self, own: Sequence[str]) -> None:
        self._own = own
        self.asked: list[ModelQuestion] = []

    async def ask(self, questions: Sequence[ModelQuestion]) -> list[ModelReply]:
        self.asked += questions
        return [ModelReply(self._said(question)) for question in questions]

    def _said(self, question: ModelQuestion) -> str:
        if question.kind == "belongs":
            return "Yes" if set(question.about.split()) & set(self._own) else "No"
        return json.dumps({word: word.upper() for word in self._own})


def plan_of(**fields: Any) -> Plan:
    given = {
        "name": "trial", "domain": "lands", "extractors": ["words"], "nearness": "lexical",
        "concepts": [{
            "name": "Velmora",
            "keywords": {"by_hand": ["Velmora", "AC/DC", "us", "US", "Nowhere"]},
            "sources": [{"kind": "files", "path": "a.txt"}],
        }],
        "prompts": {"kind": "templates", "template": "Go on: {sentence}"},
        "branching": {"root": "Velmora", "to": [{"concept": "US"}]},
    }  # fmt: skip
    return Plan.model_validate({**given, **fields})


def built(tmp_path: Path, language_model: Model | None = None, **fields: Any) -> BuiltSuite:
    (tmp_path / "a.txt").write_text(TEXT)
    return asyncio.run(build_of(plan_of(**fields), tmp_path, BuilderSettings(), language_model)())


def texts(suite: BuiltSuite, concept: str) -> str:
    return " ".join(row["prompt"] for row in suite.rows if row["concept"] == concept)


def test_1_the_builder_needs_no_library_beyond_the_base_and_no_download() -> None:
    heavy = ("plotly", "nltk", "spacy", "matplotlib", "torch", "sentence_transformers", "pandas")
    program = (
        "import sys, biaswatch.building.composition;"
        f"print(*[name for name in {heavy!r} if name in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_3_keywords_keep_their_own_sentences_whatever_they_are_made_of(tmp_path: Path) -> None:
    suite = built(tmp_path)
    assert suite.build_log.hits["Velmora"] == {
        "Velmora": 4, "AC/DC": 1, "us": 1, "US": 0, "Nowhere": 0,
    }  # fmt: skip
    assert len({row["prompt"] for row in suite.rows}) == len(suite.rows)


@pytest.mark.parametrize("own", [[], ["plumed"], ["pilots", "harbour", "ships"]])
def test_4_the_automatic_threshold_runs_and_its_settings_arrive(
    tmp_path: Path, own: list[str]
) -> None:
    model = Model(own)
    branching = {
        "root": "Velmora", "to": [{"concept": "US"}], "propose": {"below": 4, "most": 8},
    }  # fmt: skip
    suite = built(tmp_path, model, branching=branching, model={"target": "openai:tester"})
    searched = [question for question in model.asked if question.kind == "belongs"]
    assert 1 <= len(searched) <= 4  # log2(8) + 1
    assert all(len(question.about.split()) <= 4 for question in searched)
    replaced = suite.header["made"]["replaced"]["US"]
    assert replaced["Velmora"] == "US"
    assert set(replaced) <= {"Velmora", *own}


def test_5_a_branch_changes_whole_words_and_no_case(tmp_path: Path) -> None:
    assert texts(built(tmp_path), "US") == " ".join(
        f"Go on: {sentence}"
        for sentence in (
            "The plumed bakers of US have always worked at night.",
            "The ships of US are known for their harbour pilots.",
            "NASA and the USA do business with US in every season.",
            "AC/DC have played a loud concert in US for us.",
        )
    )


def test_5_both_directions_need_no_map_of_the_way_back(tmp_path: Path) -> None:
    branching = {
        "root": "Velmora", "both_directions": True,
        "to": [{"concept": "USA", "replace": {"bakers": "pilots"}}],
    }  # fmt: skip
    twins = texts(built(tmp_path, branching=branching), "USA")
    assert "The plumed pilots of USA" in twins
    assert "their harbour bakers" in twins
    assert "NASA and the Velmora do business with USA" in twins
