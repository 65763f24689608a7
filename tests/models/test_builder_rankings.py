"""The builder's nearness by a real model: keywords, senses and leftover words."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from biaswatch.building.branching import own_words
from biaswatch.building.build_data import BuildLog, SentenceMatch
from biaswatch.building.composition import build_of
from biaswatch.building.plan import Concept, Plan
from biaswatch.building.ranking import Ranking, nearest, on_topic, ranking_of, words_of
from biaswatch.building.sentences import sentences
from biaswatch.building.settings import BuilderSettings

pytestmark = pytest.mark.models
PAGES = Path(__file__).parents[1] / "unit" / "builder" / "pages"
MEANT = {"economy": "economy", "nursing": "nursing", "football": "football"}


@pytest.fixture(scope="module")
def ranking(minilm: Path) -> Ranking:
    return ranking_of("embeddings", str(minilm))


def test_the_packaged_model_is_found_without_a_setting_or_a_download(minilm: Path) -> None:
    assert ranking_of("auto", None).name == "embeddings by sentence-transformers/all-MiniLM-L6-v2"


def keywords(ranking: Ranking, page: str, topic: str) -> list[str]:
    context = list(sentences((PAGES / f"{page}.txt").read_text()))
    return nearest(ranking, topic, words_of(context), 40, context, least=ranking.least)


@pytest.mark.parametrize(
    ("page", "among", "never"),
    [
        ("economy", {"market", "wages", "inflation", "currency"}, {"emus", "towers", "ecologists"}),
        ("nursing", {"patients", "hospitals", "midwives"}, {"railway", "statue", "garden"}),
        ("football", {"stadiums", "referee", "goals", "midfielders"}, {"bakery", "rain", "rolls"}),
    ],
)
def test_keywords_are_near_in_meaning_and_not_in_spelling(
    ranking: Ranking, page: str, among: set[str], never: set[str]
) -> None:
    result = set(keywords(ranking, page, page))
    assert among <= result
    assert not never & result


def test_what_is_about_something_else_in_a_page_is_left_out(ranking: Ranking) -> None:
    text = (PAGES / "nursing.txt").read_text()
    concept = concept_of("nursing")
    context = list(sentences(text))
    hits = [SentenceMatch("nursing", "the", item, "n.txt", 1, "own") for item in context]
    log = BuildLog()
    kept = on_topic(hits, concept, "professions", ranking, context, log)
    left = " ".join(item.what for item in log.left)
    assert "railway" in left
    assert "statue" in left
    assert len(kept) > 0.8 * len(hits)


def concept_of(name: str) -> Concept:
    source = {"kind": "files", "path": "n.txt"}
    given = {"name": name, "keywords": {"by_hand": [name]}, "sources": [source]}
    return Concept.model_validate(given)


def test_black_dyes_and_tuxedos_are_no_black_people(ranking: Ranking) -> None:
    people = [
        "Black people were denied the vote until the law was changed.",
        "Black families moved north to work in the factories.",
        "Many black students attended segregated schools.",
        "Black women founded clubs and newspapers.",
    ]
    others = [
        "Dyers used iron to make a deep black that did not fade.",
        "The black paint on the door had cracked.",
        "Logwood gives a black dye for wool.",
        "Men wore black tuxedos to the dinner.",
        "The cat had black fur and white paws.",
    ]
    hits = [
        SentenceMatch("black", "black", person, "n.txt", 1, "own") for person in people + others
    ]
    context = people + others
    kept = on_topic(hits, concept_of("black"), "ethnicity", ranking, context, BuildLog())
    assert [hit.sentence for hit in kept] == people


def test_words_of_the_root_alone_are_known_by_their_meaning(ranking: Ranking) -> None:
    words = ["church", "bible", "prayer", "town", "teachers", "school"]
    terms = {"Christianity": "Islam"}
    assert own_words("Christianity", "Islam", words, ranking, terms) == {"church", "bible"}


def test_a_whole_build_says_that_embeddings_judged(minilm: Path, tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text((PAGES / "nursing.txt").read_text())
    concept: dict[str, Any] = {
        "name": "nursing", "keywords": {"by_ranking": {"most": 20}},
        "sources": [{"kind": "files", "path": "n.txt"}],
    }  # fmt: skip
    plan = Plan.model_validate(
        {
            "name": "trial", "domain": "professions", "extractors": ["words"],
            "concepts": [concept], "prompts": {"kind": "continuations", "verbs": "rule"},
        }
    )  # fmt: skip
    settings = BuilderSettings(builder_embedder=str(minilm))
    suite = asyncio.run(build_of(plan, tmp_path, settings)())
    assert suite.header["made"]["ranked_by"].startswith("embeddings by")
    text = " ".join(row["prompt"] for row in suite.rows)
    assert "railway" not in text
    assert "History" not in text
    assert len(suite.rows) > 12
