"""What extractors read in answers as models word them: refusals, choices, ratings."""

import pytest

from biaswatch.services.extractor.domain import Reading, measured_all
from biaswatch.services.extractor.handlers.loading import load
from tests.unit.extractor.answers_in_words import CHOICES, RATINGS, REFUSALS

EXTRACTORS = load(["refusal", "choice", "rating"], None)


def value(name: str, feature: str, text: str) -> float | None:
    [(values, _)] = measured_all(EXTRACTORS[name], [Reading(text)])
    return values.get(feature)


@pytest.mark.parametrize(("text", "refused"), REFUSALS)
def test_refusals_are_told_from_answers_with_the_same_words(text: str, refused: int) -> None:
    assert value("refusal", "refused", text) == refused


@pytest.mark.parametrize(("text", "letter"), CHOICES)
def test_the_one_option_an_answer_chooses_is_read(text: str, letter: str | None) -> None:
    number = None if letter is None else ord(letter) - ord("A") + 1
    assert value("choice", "chosen", text) == number


@pytest.mark.parametrize(("text", "rating"), RATINGS)
def test_the_one_rating_an_answer_states_is_read(text: str, rating: float | None) -> None:
    assert value("rating", "rating", text) == rating
