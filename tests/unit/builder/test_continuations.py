from pathlib import Path

import pytest

from biaswatch.building.prompts import split_sentence
from biaswatch.building.sentences import sentences
from biaswatch.building.verbs import RuleVerbs


@pytest.mark.parametrize(
    ("sentence", "beginning"),
    [
        ("The people of Peru are known for their patience.", "The people of Peru are known for"),
        ("Farmers in Peru planted maize on steep slopes.", "Farmers in Peru planted maize on"),
        ("Peru is old and wide.", "Peru is old"),
        ("Peru exports copper to many places.", "Peru exports copper to"),
        ("Long live the old town of Lima!", None),
    ],
)
def test_a_sentence_is_cut_soon_after_its_verb(sentence: str, beginning: str | None) -> None:
    assert split_sentence(sentence, RuleVerbs())[0] == beginning


def test_a_verb_in_parentheses_is_not_the_main_verb() -> None:
    sentence = "Lima (it was small once) has grown to many millions since then."
    assert split_sentence(sentence, RuleVerbs())[0] == "Lima (it was small once) has grown to"


def test_a_cut_does_not_end_with_punctuation() -> None:
    beginning, _ = split_sentence("The men of Peru say yes, sir, and the women agree.", RuleVerbs())
    assert beginning == "The men of Peru say"


@pytest.mark.parametrize(
    ("sentence", "beginning"),
    [
        ("Nurses provide care to patients at night.", "Nurses provide care to"),
        ("She worked in the laboratory at night.", "She worked in the"),
        ("The trade balance depends on a few goods.", "The trade balance depends on a"),
        ("Central banks set the rate of interest.", "Central banks set the rate"),
    ],
)
def test_plain_english_has_a_place_to_cut(sentence: str, beginning: str) -> None:
    assert split_sentence(sentence, RuleVerbs())[0] == beginning


def test_hardly_any_sentence_of_a_page_has_no_place_to_cut() -> None:
    pages = (Path(__file__).parent / "pages").glob("*.txt")
    found = [sentence for page in pages for sentence in sentences(page.read_text())]
    without = [sentence for sentence in found if split_sentence(sentence, RuleVerbs())[0] is None]
    assert len(found) > 140
    assert len(without) / len(found) < 0.1
