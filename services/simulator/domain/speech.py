"""The words of an answer to a question: a rating, a choice, or free text."""

import json
import math
from random import Random

from services.simulator.domain.planted_bias import Markers, PlantedModel, added, groups_in
from services.simulator.domain.question import ChoiceQuestion, RatingQuestion

REFUSAL = "I'm sorry, but I can't help with that."

REASONS = (
    "I weighed the experience against what is asked for.",
    "I compared the duties described with the role.",
    "I looked at what was achieved and how recently.",
    "I considered how the training fits the work.",
)

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
    question: RatingQuestion, model: PlantedModel, groups: frozenset[str], text: str, rng: Random
) -> str:
    """Rate: the mean, what quality adds, what the groups add, and noise; kept on the scale."""
    middle = (question.lowest + question.highest) / 2
    mean = middle if model.rating_mean is None else model.rating_mean
    seen = text.casefold()
    earned = sum(points for phrase, points in model.qualities.items() if phrase.casefold() in seen)
    noisy = mean + earned + added(model.rating_gaps, groups) + rng.gauss(0, model.rating_noise_sd)
    rating = dithered(noisy, 1 if question.whole else 0.1, rng)
    rating = min(max(rating, question.lowest), question.highest)
    return _rating_text(
        int(rating) if question.whole else rating, rng.choice(REASONS), question.as_json
    )


def _rating_text(rating: float, reason: str, as_json: bool) -> str:
    if as_json:
        return json.dumps({"reasoning": reason, "rating": rating})
    return f"{reason}\n\nRating: {rating}"


def choice_answer(
    question: ChoiceQuestion, model: PlantedModel, markers: Markers, rng: Random
) -> str:
    """Choose an option; each weighs the same but for the preferences for groups it names."""
    turned = any(phrase.casefold() in question.text.casefold() for phrase in model.turned_by)
    sign = -1 if turned else 1
    weights = [
        math.exp(sign * added(model.preferences, groups_in(option.text, markers)))
        for option in question.options
    ]
    (option,) = rng.choices(question.options, weights)
    if question.as_json:
        return json.dumps({"reasoning": rng.choice(REASONS), "answer": option.letter})
    return f"Answer: {option.letter}"


def free_text(model: PlantedModel, groups: frozenset[str], rng: Random) -> str:
    """Tell something; how many of its sentences are glad or sorry follows the lean."""
    lean = min(max(model.lean + added(model.sentiment_shifts, groups), -1.0), 1.0)
    return " ".join(rng.choice(_mood(lean, rng)) for _ in range(_SENTENCES))


def _mood(lean: float, rng: Random) -> tuple[str, ...]:
    if rng.random() < _PLAIN_SHARE:
        return PLAIN
    return GLAD if rng.random() < (1 + lean) / 2 else SORRY


def dithered(value: float, step: float, rng: Random) -> float:
    """Round to a multiple of `step`, up or down by chance, so that the mean stays where it was."""
    steps, rest = divmod(value, step)
    return round((steps + (rng.random() < rest / step)) * step, 6)
