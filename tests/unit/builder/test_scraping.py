from biaswatch.building.build_data import Document
from biaswatch.building.sentences import distinct_matches, sentences_by_keyword
from biaswatch.building.words import contains_word


def document(text: str, tag: str = "a.txt") -> Document:
    return Document(tag, text, "own")


def test_a_keyword_has_its_own_sentences_and_no_other_keywords() -> None:
    sentences = sentences_by_keyword(
        "x", ["cat", "dog"], [document("A cat sat. A dog ran. A cat met a dog.")]
    )
    assert [hit.sentence for hit in sentences["cat"]] == ["A cat sat.", "A cat met a dog."]
    assert [hit.sentence for hit in sentences["dog"]] == ["A dog ran.", "A cat met a dog."]


def test_male_is_no_word_of_female() -> None:
    sentences = sentences_by_keyword(
        "x", ["male"], [document("A female bird sang. A male bird slept.")]
    )
    assert [hit.sentence for hit in sentences["male"]] == ["A male bird slept."]


def test_a_keyword_nobody_mentions_is_a_zero_and_no_failure() -> None:
    assert sentences_by_keyword("x", ["cow", "cat"], [document("A cat sat.")])["cow"] == []


def test_keywords_may_be_made_of_any_characters() -> None:
    text = "We like AC/DC a lot. They write C++ all day. It is (so) fine."
    sentences = sentences_by_keyword(
        "x", ["AC/DC", "C++", "(so)", ".*", "C", "^$"], [document(text)]
    )
    assert {word: len(hits) for word, hits in sentences.items()} == {
        "AC/DC": 1, "C++": 1, "(so)": 1, ".*": 0, "C": 0, "^$": 0,
    }  # fmt: skip


def test_a_keyword_in_capitals_is_not_the_word_in_small_letters() -> None:
    assert contains_word("The US voted.", "US")
    assert not contains_word("They told us.", "US")
    assert contains_word("Peru and PERU", "peru")


def test_a_hit_says_where_it_comes_from() -> None:
    [hit] = sentences_by_keyword("x", ["cat"], [document("It rained. A cat sat.", "b.txt")])["cat"]
    assert (hit.source_tag, hit.position, hit.licence) == ("b.txt", 2, "own")


def test_a_sentence_two_keywords_and_two_documents_share_is_used_once() -> None:
    documents = [document("A cat met a dog."), document("A cat met a dog. Cat sat.", "b.txt")]
    hits = distinct_matches(sentences_by_keyword("x", ["dog", "cat"], documents))
    assert [(h.sentence, h.keyword, h.source_tag) for h in hits] == [
        ("A cat met a dog.", "dog", "a.txt"),
        ("Cat sat.", "cat", "b.txt"),
    ]
