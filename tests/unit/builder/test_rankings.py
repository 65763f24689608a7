"""Nearness without a model: BM25, and what is done with the numbers of any ranking."""

import sys
from collections.abc import Sequence

import pytest

from biaswatch.building.branching import own_words, without_root_words
from biaswatch.building.build_data import BuildLog, PromptItem, SentenceMatch
from biaswatch.building.plan import Branching, Concept
from biaswatch.building.ranking import Bm25Ranking, nearest, on_topic, ranking_of
from biaswatch.shared.errors import UsageError

CONTEXT = [
    "The economy grows when wages rise.",
    "Emus were kept on some farms.",
    "Wages and the economy depend on trade.",
]


class Vectors:
    """A ranking whose numbers are given."""

    name, knows_meaning, least = "given", True, 0.3

    def __init__(self, near: dict[tuple[str, str], float]) -> None:
        self._near = near

    def nearness(
        self, topic: str, texts: Sequence[str], context: Sequence[str] = ()
    ) -> list[float]:
        return [self._near.get((topic, text), 0.5) for text in texts]


def test_words_that_stand_with_the_topic_are_nearer_than_words_spelled_like_it() -> None:
    words = ["wages", "emus", "trade", "ecology"]
    result = nearest(Bm25Ranking(), "economy", words, 9, CONTEXT, least=Bm25Ranking.least)
    assert result[0] == "wages"
    assert set(result) == {"wages", "trade"}


def test_without_a_word_in_common_everything_is_equally_far() -> None:
    assert Bm25Ranking().nearness("x", ["a word", "another"]) == [0.0, 0.0]
    assert Bm25Ranking().nearness("x", []) == []


def test_without_the_library_the_fallback_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biaswatch.shared.models.device.find_spec", lambda _: None)
    assert ranking_of("auto", None).name.startswith("lexical")
    with pytest.raises(UsageError, match="the extra `models`"):
        ranking_of("embeddings", None)


def test_a_plan_that_wants_words_alone_loads_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "biaswatch.shared.models.text_models", None)
    assert not ranking_of("lexical", "a model").knows_meaning


def match(sentence: str) -> SentenceMatch:
    return SentenceMatch("black", "black", sentence, "a.txt", 1, "own")


def test_a_sentence_that_uses_the_name_in_another_sense_is_left_out_with_its_keyword() -> None:
    concept = Concept.model_validate(
        {
            "name": "black", "keywords": {"by_hand": ["black"]},
            "sources": [{"kind": "files", "path": "a.txt"}],
        }
    )  # fmt: skip
    near = {
        ("black", "black, race"): 0.6, ("black", "dye"): 0.4, ("black, race", "dye"): 0.2,
        ("black", "voters"): 0.3, ("black, race", "voters"): 0.4,
    }  # fmt: skip
    log = BuildLog()
    hits = [match("dye"), match("voters")]
    assert on_topic(hits, concept, "race", Vectors(near), [], log) == [hits[1]]
    assert [(item.what, item.keyword) for item in log.left] == [("dye", "black")]


def test_a_word_is_the_roots_own_if_it_is_much_nearer_to_it_than_to_the_other() -> None:
    near = {
        ("Peru", "lima"): 0.77, ("Chile", "lima"): 0.5, ("Peru", "andes"): 0.78,
        ("Chile", "andes"): 0.7, ("Peru", "town"): 0.2, ("Chile", "town"): 0.0,
    }  # fmt: skip
    words = ["lima", "andes", "town"]
    assert own_words("Peru", "Chile", words, Vectors(near), {}) == {"lima"}
    # What a replacement put there is not left over from the root.
    assert own_words("Peru", "Chile", words, Vectors(near), {"x": "Lima"}) == set()


def test_a_set_with_a_word_of_the_root_alone_is_left_out_whole() -> None:
    branching = Branching.model_validate({"root": "Peru", "to": [{"concept": "Chile"}]})
    items = []
    for n, text in enumerate(("The port of Lima in Peru is", "The towns of Peru are")):
        root = PromptItem(match(text), text, "Peru", text, f"s{n}")
        twin = text.replace("Peru", "Chile")
        items += [root, PromptItem(match(text), twin, "Chile", twin, f"s{n}", "Peru")]
    near = {("Peru", "lima"): 0.8, ("Chile", "lima"): 0.4}
    log = BuildLog()
    terms = {"Chile": {"Peru": "Chile"}}
    kept = without_root_words(items, branching, terms, Vectors(near), log)
    assert [item.set_id for item in kept] == ["s1", "s1"]
    assert [item.why for item in log.left] == ["words of Peru are left: lima"]
