import os
from pathlib import Path

import pytest

from biaswatch.building.build_data import document_of
from biaswatch.building.cuts import KEYWORD_AFTER, NO_PLACE, NO_VERB, USUAL_WORDS, split_sentence
from biaswatch.building.markdown_text import passages_of_text
from biaswatch.building.sentences import sentences
from biaswatch.building.verbs import RuleVerbs

PAGES = Path(__file__).parent / "pages"
DATA = Path(os.environ.get("BIASWATCH_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))
SOURCE = DATA.parent / "seeds" / "saged-paper.txt"


@pytest.mark.parametrize(
    ("beginning", "rest"),
    [
        ("The Labour Party is a social democratic party in the north", "that sits on the left."),
        ("Worries about the funds of the party have become much louder", "because of a quarrel."),
        ("The people of Peru are known for their patience", "in all kinds of weather."),
        ("Farmers in Peru planted maize on steep slopes", "that nobody else wanted."),
        ("Peru exports copper", "to many places."),
        ("Nurses provide care to patients", "at night."),
        ("She worked in the laboratory at night", ", when the benches were free."),
        ("Lima (it was small once) has grown to many millions", "since then."),
        ("The land sells wool, salt, and slate", "to its neighbours."),
        ("As it grows, Peru serves as a home for people", "who left other lands."),
        ("Velmora, known as the wet land, aims to sell its water", "to dry towns abroad."),
        ("The towns that line the coast were built with stone", "from the old quarries."),
        ("Children in Peru start school at six", "and learn a second language."),
        ("Polls show that men in Peru trust the courts", "because judges are paid well."),
        ("Teachers are paid as much as engineers", ", and places at colleges are rare."),
        ("The state keeps order in the ports", "while the towns govern themselves."),
        ("The harbour of Peru was seen", "from the hills."),
        ("The coast attracts visitors", "from all over the world."),
        ("Peru has lakes", ", which the settlers, who came by sea, called cold."),
        ("Ships of Peru are used by families", ", even though they are old and slow."),
        ("Peru is divided into twelve parts", ", each of which elects two members."),
        ("Some claim Peru was poor", ", while others think that traders made it rich."),
        ("Peru relies on imported grain", "and should invest in its own farms."),
        ("Trade in salt fell by 20 per cent.", "in the year of the flood."),
    ],
)
def test_a_sentence_is_cut_after_the_complement_of_its_main_verb(beginning: str, rest: str) -> None:
    gap = "" if rest.startswith(",") else " "
    assert split_sentence(beginning + gap + rest, RuleVerbs()) == (beginning, "")


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("Long live the old town of Lima!", NO_VERB),
        ("Peru sells wool.", NO_PLACE),
        ("The land sells wool, salt and slate.", NO_PLACE),
        ("The towns in the east are quiet in winter because of Peru.", KEYWORD_AFTER),
    ],
)
def test_a_sentence_without_such_a_place_is_left_out_with_its_reason(
    sentence: str, why: str
) -> None:
    assert split_sentence(sentence, RuleVerbs(), ["Peru", "Lima", "land"]) == (None, why)


def test_a_later_place_is_taken_to_keep_the_keyword() -> None:
    sentence = "The ships carry wool to the harbours of Peru when the storms of autumn are over."
    assert split_sentence(sentence, RuleVerbs(), ["wool"])[0]
    assert split_sentence(sentence, RuleVerbs(), ["Peru"])[0] == (
        "The ships carry wool to the harbours of Peru"
    )


def test_most_sentences_of_a_page_have_a_place_to_cut() -> None:
    texts = [sentence for page in PAGES.glob("*.txt") for sentence in sentences(page.read_text())]
    cuts = [split_sentence(sentence, RuleVerbs()) for sentence in texts]
    beginnings = [beginning for beginning, _ in cuts if beginning is not None]
    assert len(texts) > 140
    assert len(beginnings) / len(texts) > 0.6
    assert sum(why == NO_VERB for _, why in cuts) / len(texts) < 0.05
    assert all(len(beginning.split()) <= USUAL_WORDS for beginning in beginnings)


@pytest.mark.skipif(not SOURCE.is_file(), reason=f"the source's article is not in {SOURCE}")
def test_the_article_of_the_source_gives_beginnings_without_markup() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    article = text[text.index("Sub-article 1:") : text.index("D.2 Experiment")]
    document = document_of("article", passages_of_text(article), "test")
    result = sentences(document.text)
    beginnings = [split_sentence(sentence, RuleVerbs(), ["IdeaCoun"])[0] for sentence in result]
    usable = [beginning for beginning in beginnings if beginning is not None]
    assert len(result) > 90
    assert not any(mark in text for text in (*result, *usable) for mark in "*_#`|<>\\[]{}~")
    assert len(usable) > 30
    assert 10 < sum(len(beginning.split()) for beginning in usable) / len(usable) <= USUAL_WORDS
