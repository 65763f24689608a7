"""Texts of answers: ratings, choices and free text."""

import json
import math
from collections.abc import Sequence
from random import Random

from biaswatch.services.simulator.domain.planted_bias import (
    TRUTH,
    Markers,
    PlantedModel,
    added,
    groups_in,
    read_wrongly,
)
from biaswatch.services.simulator.domain.question import ChoiceQuestion, RatingQuestion

REFUSAL = "I'm sorry, but I can't help with that."

REASONS = (
    "I weighed the experience against what the role requires.",
    "I compared the duties described with the role.",
    "I looked at what was achieved and how recently.",
    "I considered how the training fits the work.",
)

LEADS = "Everything here points to this answer: {answer}."
"""A reasoning that names the chosen option."""

GLAD = (
    "What stands out is kindness and a great sense of humour.",
    "People speak of them with love and admiration.",
    "The work is excellent and the mood is happy.",
    "Friends praise a generous and honest nature.",
    "There is a wonderful, warm welcome for strangers.",
)

SORRY = (
    "What stands out is anger and a terrible temper.",
    "People speak of them with fear and contempt.",
    "The work is awful and the mood is sad.",
    "Neighbours complain of a selfish and dishonest nature.",
    "There is a cruel, hostile welcome for strangers.",
)

PLAIN = (
    "The day begins early and ends late.",
    "Most of them travel by train or on foot.",
    "The houses are built of brick and wood.",
    "On Tuesdays there is a market by the river.",
    "Lunch is eaten at about one o'clock.",
)
_SENTENCES = 6
_PLAIN_SHARE = 1 / 3


def rating_answer(
    question: RatingQuestion,
    model: PlantedModel,
    groups: frozenset[str],
    text: str,
    gap: float,
    rng: Random,
) -> str:
    """Return a rating: mean, quality, the effects of groups (`gap`) and noise, on the scale."""
    middle = (question.lowest + question.highest) / 2
    mean = middle if model.rating_mean is None else model.rating_mean
    folded = text.casefold()
    earned = sum(
        points for phrase, points in model.qualities.items() if phrase.casefold() in folded
    )
    noisy = mean + earned + gap + rng.gauss(0, model.rating_noise_sd)
    rating = dithered(noisy, 1 if question.whole else 0.1, rng)
    rating = min(max(rating, question.lowest), question.highest)
    reason = rng.choice(REASONS)
    if model.reading_errors is not None:
        reason = TRUTH.format(value=rating)
        rating = read_wrongly(rating, question, model.reading_errors, groups, rng)
    number = int(rating) if question.whole else rating
    if question.as_json:
        return json.dumps({"reasoning": reason, "rating": number})
    return f"{reason}\n\nRating: {number}"


def choice_answer(
    question: ChoiceQuestion, model: PlantedModel, markers: Markers, rng: Random
) -> str:
    """Return a choice or a ranking, by preferences for groups and for the first place."""
    reversed_ = any(phrase.casefold() in question.text.casefold() for phrase in model.turned_by)
    sign = -1 if reversed_ else 1
    weights = [
        math.exp(sign * added(model.preferences, groups_in(option.text, markers)))
        * math.exp(model.first_place if place == 0 else 0.0)
        for place, option in enumerate(question.options)
    ]
    if question.ranking:
        return ranking_answer(question, weights, rng)
    (option,) = rng.choices(question.options, weights)
    if not question.as_json:
        return f"Answer: {option.letter}"
    reason = rng.choice(REASONS)
    share = (model.reasoned or 0) + added(model.reasoned_gaps, groups_in(question.text, markers))
    if model.reasoned is not None and rng.random() < share:
        reason = LEADS.format(answer=option.text)
    return json.dumps({"reasoning": reason, "answer": option.letter})


def ranking_answer(question: ChoiceQuestion, weights: Sequence[float], rng: Random) -> str:
    """Return a ranking drawn by weight without replacement (Plackett and Luce)."""
    left = dict(zip([option.letter for option in question.options], weights, strict=True))
    letters = []
    while left:
        (letter,) = rng.choices(list(left), list(left.values()))
        letters.append(letter)
        del left[letter]
    return (
        json.dumps({"ranking": letters}) if question.as_json else f"Ranking: {', '.join(letters)}"
    )


def free_text(model: PlantedModel, groups: frozenset[str], rng: Random) -> str:
    """Return free text; the lean decides the share of positive and negative sentences."""
    lean = min(max(model.lean + added(model.sentiment_shifts, groups), -1.0), 1.0)
    return " ".join(rng.choice(_mood(lean, rng)) for _ in range(_SENTENCES))


def _mood(lean: float, rng: Random) -> tuple[str, ...]:
    if rng.random() < _PLAIN_SHARE:
        return PLAIN
    return GLAD if rng.random() < (1 + lean) / 2 else SORRY


def dithered(value: float, step: float, rng: Random) -> float:
    """Round to a multiple of `step`, up or down at random, so that the mean is unchanged."""
    steps, rest = divmod(value, step)
    return round((steps + (rng.random() < rest / step)) * step, 6)
