"""Lists of words become patterns that match these words and nothing else."""

import pytest

from biaswatch.services.evaluator.domain.checks.phrases import (
    each_stem,
    each_whole,
    either,
    one_of,
    phrases_in,
    sought,
)


@pytest.mark.parametrize("text", ["due to", "DUE  TO", "it was led\nto"])
def test_whole_phrases_are_found_with_any_space_and_in_any_case(text: str) -> None:
    assert sought(*each_whole("due to, led to")).search(text)


@pytest.mark.parametrize("text", ["residue to", "led too", "due, to", "ledto"])
def test_parts_of_longer_words_are_no_phrases(text: str) -> None:
    assert not sought(*each_whole("due to, led to")).search(text)


def test_a_word_that_may_go_on_is_told_from_one_that_has_to() -> None:
    stems = sought(*each_stem("bias*, religio+"))
    assert [bool(stems.search(text)) for text in ("bias", "biased", "religion", "religio")] == [
        *(True, True, True),
        False,
    ]


def test_lists_are_split_at_a_comma_and_a_blank_alone() -> None:
    assert one_of(r"\w{0,5}, in all, so?") == r"(?:\w{0,5}|in\s+all|so?)"
    assert either("in all, so?") == "(?:in all|so?)"
    assert phrases_in("in all, so?").search("s all in all") is not None
    assert phrases_in("in all, so?").search("soon in ally") is None
