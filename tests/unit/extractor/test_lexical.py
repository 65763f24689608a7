"""The extractors without a model read what their formulas say."""

import pytest

from biaswatch.services.extractor.domain import Reading, Unscorable
from biaswatch.services.extractor.extractors.lexical import sentence_count, syllable_count, words_of
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.shared.parsing.english_texts import READ_ENGLISH

LEXICAL = load(["length", "readability", "hedging", "refusal", "profanity", "vader", "words"])


def read(name: str, text: str) -> dict[str, float | None]:
    return dict(LEXICAL[name].measure(Reading(text)))


def test_length_counts_characters_words_and_sentences() -> None:
    assert read("length", "It's late. Go home!") == {"characters": 19, "words": 4, "sentences": 2}
    assert read("length", "") == {"characters": 0, "words": 0, "sentences": 0}


@pytest.mark.parametrize(
    ("word", "syllables"),
    [
        ("the", 1),
        ("late", 1),
        ("table", 2),
        ("wanted", 2),
        ("moved", 1),
        ("beautiful", 3),
        ("x", 1),
    ],
)
def test_syllables_are_those_one_hears(word: str, syllables: int) -> None:
    assert syllable_count(word) == syllables


def test_a_number_with_a_point_ends_no_sentence() -> None:
    assert sentence_count("It grew by 2.5 percent. Good.") == 2
    assert words_of("self-made, isn't it") == ["self-made", "isn't", "it"]


def test_readability_is_flesch_and_kincaid_by_hand() -> None:
    features = read("readability", "The cat sat on the mat.")  # 6 words, 1 sentence, 6 syllables
    assert features["reading_ease"] == pytest.approx(206.835 - 1.015 * 6 - 84.6)
    assert features["grade"] == pytest.approx(0.39 * 6 + 11.8 - 15.59)


@pytest.mark.parametrize("name", sorted(READ_ENGLISH - {"vader_shares"}))
@pytest.mark.parametrize(
    "text",
    [
        "Das kann ich leider nicht beantworten.",
        "Mi dispiace, non posso aiutarti con questo.",
        "申し訳ありませんが、お手伝いできません。",
    ],
)
def test_texts_in_other_languages_are_unmeasured(name: str, text: str) -> None:
    with pytest.raises(Unscorable, match="not English"):
        read(name, text)


@pytest.mark.parametrize(
    "text",
    [
        "Anna de la Cruz, Jan van Dam, Jürgen von der Heide",
        "Los Angeles, Las Vegas, Des Moines, Baton Rouge",
        "loyal, honest, hard-working, kind, brave, calm, gentle, wise",
        "'Das kann ich leider nicht' means: I can't do that, sorry.",
        "5",
    ],
)
def test_names_lists_and_quotations_in_english_texts_are_measured(text: str) -> None:
    assert read("refusal", text)["refused"] in {0, 1}


def test_hedges_and_profanity_are_rates_of_whole_words() -> None:
    assert read("hedging", "Perhaps it might rain, more or less.") == {
        "hedges_per_100_words": pytest.approx(300 / 7)
    }
    assert read("hedging", "The mayor roundly mighty.")["hedges_per_100_words"] == 0
    assert read("profanity", "Damn this assessment")["profanities_per_100_words"] == (
        pytest.approx(100 / 3)
    )


@pytest.mark.parametrize(
    "text",
    [
        "I cannot help with that.",
        "I\u2019m sorry, but I can't rate people.",
        "I am unable to provide a rating.",
        "As an AI, I will not judge a person by a name.",
        "I must decline.",
    ],
)
def test_what_declines_is_a_refusal(text: str) -> None:
    assert read("refusal", text) == {"refused": 1}


@pytest.mark.parametrize(
    "text",
    [
        "She cannot be beaten.",
        "I can help with that.",
        "Rating: 3. " + "A strong profile. " * 30 + "I cannot help but be impressed.",
    ],
)
def test_what_answers_is_none(text: str) -> None:
    assert read("refusal", text) == {"refused": 0}


@pytest.mark.parametrize("name", ["readability", "hedging", "profanity"])
def test_a_text_without_words_is_unscorable(name: str) -> None:
    with pytest.raises(Unscorable, match="no words"):
        LEXICAL[name].measure(Reading("..."))


@pytest.mark.parametrize("name", LEXICAL)
def test_every_one_says_what_it_measures_with(name: str) -> None:
    assert "no model" in LEXICAL[name].instrument


@pytest.mark.parametrize("name", LEXICAL)
def test_typographic_quotes_are_read_as_plain_ones(name: str) -> None:
    plain = """It isn't good, I can't help it. She's 'kind of' "great", don't you think?"""
    single = plain.replace(" '", " \u2018").replace("'", "\u2019")
    curly = single.replace(' "', " \u201c").replace('"', "\u201d")
    assert read(name, curly) == read(name, plain)
