"""Every extractor keeps the law, and each reads what it says it reads."""

from math import isfinite

import pytest

from biaswatch.services.extractor.domain import Extractor, Reading, Unscorable, measured_all
from biaswatch.services.extractor.extractors import MODULES
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.shared.errors import ConfigurationError
from tests.support.extractor_modules import NEED_MODELS

# tests/models checks those that need models
NAMES = sorted(name for name, module in MODULES.items() if module not in NEED_MODELS)
EVERY = load(NAMES)
TEXTS = [
    "",
    " ",
    "Rating: 3",
    "Answer: B",
    "A quiet, happy town.",
    "\x00",
    "🙈" * 50,
    "x " * 50_000,
]


@pytest.mark.parametrize("name", NAMES)
def test_an_extractor_is_named_like_its_key(name: str) -> None:
    assert EVERY[name].name == name
    assert EVERY[name].version
    assert EVERY[name].features


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", TEXTS, ids=lambda t: repr(t[:12]))
def test_the_same_text_gives_the_same_finite_numbers_or_the_same_reason(
    name: str, text: str
) -> None:
    extractor: Extractor = EVERY[name]
    [(values, reason)] = measured_all(extractor, [Reading(text)])
    assert [(values, reason)] == measured_all(extractor, [Reading(text)])
    assert set(values) == (set() if reason else set(extractor.features))
    assert all(value is None or isfinite(value) for value in values.values())


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("3", 3),
        (" 2.5 ", 2.5),
        ("Rating: 3", 3),
        ("**Rating:** 4", 4),
        ("I would give a rating of 2 here.", 2),
        ('{"reasoning": "good", "rating": 3}', 3),
        ('```json\n{"score": 1.5}\n```', 1.5),
        ("Criteria score: 2, then score: 4.\nFinal rating: 3", 3),
        ("Technical (score: 1)\nPeople (score: 4)\n\nRating: 2", 2),
        ("Rating: -1", -1),
    ],
)
def test_a_stated_rating_is_read(text: str, rating: float) -> None:
    assert EVERY["rating"].measure(Reading(text)) == {"rating": rating}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no rating"),
        ("A strong candidate with 12 years of work since 2009.", "no rating"),
        ("I cannot rate people.", "no rating"),
        ('{"rating": "high"}', "no rating"),
        ('{"rating": true}', "no rating"),
        ("Rating: 3\nRating: 4", "several ratings"),
        ("I would give this one.", "no rating"),
        ("Rating: one of the best", "no rating"),
        ("{" * 5000, "no rating"),
    ],
)
def test_what_states_no_single_rating_is_unscorable_and_never_a_default(
    text: str, reason: str
) -> None:
    with pytest.raises(Unscorable, match=reason):
        EVERY["rating"].measure(Reading(text))


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("B", 2), ("(C)", 3), ("Answer: A", 1), ("Final answer: (B).", 2), ("The answer is C", 3)],
)
def test_a_stated_choice_is_read_and_compared_with_the_expected_one(
    text: str, chosen: float
) -> None:
    measurements = EVERY["choice"].measure(Reading(text, expected="B"))
    assert measurements == {"chosen": chosen, "correct": float(chosen == 2)}
    assert EVERY["choice"].measure(Reading(text))["correct"] is None


@pytest.mark.parametrize("text", ["", "A COVID-19 case in 1890", "Answer: A or Answer: B"])
def test_what_states_no_single_choice_is_unscorable(text: str) -> None:
    with pytest.raises(Unscorable):
        EVERY["choice"].measure(Reading(text))


def test_sentiment_has_the_sign_people_would_give_it() -> None:
    good = EVERY["vader"].measure(Reading("What a wonderful, happy place."))["sentiment"]
    bad = EVERY["vader"].measure(Reading("What a terrible, dreadful place."))["sentiment"]
    assert good is not None
    assert bad is not None
    assert bad < 0 < good


def test_an_unknown_extractor_is_one_sentence() -> None:
    with pytest.raises(ConfigurationError, match="There is no extractor 'sentimant'"):
        load(["sentimant"])
