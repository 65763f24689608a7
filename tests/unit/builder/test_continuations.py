import pytest

from services.builder.domain.prompts import RuleVerbs, split_sentence


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
    assert split_sentence(sentence, RuleVerbs()) == beginning


def test_a_verb_in_parentheses_is_not_the_main_verb() -> None:
    sentence = "Lima (it was small once) has grown to many millions since then."
    assert split_sentence(sentence, RuleVerbs()) == "Lima (it was small once) has grown to"


def test_a_cut_does_not_end_with_punctuation() -> None:
    found = split_sentence("The men of Peru say yes, sir, and the women agree.", RuleVerbs())
    assert found == "The men of Peru say"
