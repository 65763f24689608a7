"""Turns a question and a plant into words."""

import json
import math
from random import Random

from services.simulator.domain.groups import Markers, groups_in
from services.simulator.domain.luck import dithered
from services.simulator.domain.plant import Plant, added
from services.simulator.domain.question import Choice, Rating
from services.simulator.domain.wording import GLAD, PLAIN, REASONS, SORRY

_SENTENCES = 6
_PLAIN_SHARE = 1 / 3


def rated(asked: Rating, plant: Plant, groups: frozenset[str], text: str, rng: Random) -> str:
    """Rate: the mean, what quality adds, what the groups add, and noise; kept on the scale."""
    middle = (asked.lowest + asked.highest) / 2
    mean = middle if plant.rating_mean is None else plant.rating_mean
    seen = text.casefold()
    earned = sum(points for phrase, points in plant.qualities.items() if phrase.casefold() in seen)
    noisy = mean + earned + added(plant.rating_gaps, groups) + rng.gauss(0, plant.rating_noise_sd)
    rating = dithered(noisy, 1 if asked.whole else 0.1, rng)
    rating = min(max(rating, asked.lowest), asked.highest)
    return _rating_text(int(rating) if asked.whole else rating, rng.choice(REASONS), asked.as_json)


def _rating_text(rating: float, reason: str, as_json: bool) -> str:
    if as_json:
        return json.dumps({"reasoning": reason, "rating": rating})
    return f"{reason}\n\nRating: {rating}"


def chosen(asked: Choice, plant: Plant, markers: Markers, rng: Random) -> str:
    """Choose an option; each weighs the same but for the preferences for groups it names."""
    weights = [
        math.exp(added(plant.preferences, groups_in(option.text, markers)))
        for option in asked.options
    ]
    (option,) = rng.choices(asked.options, weights)
    if asked.as_json:
        return json.dumps({"reasoning": rng.choice(REASONS), "answer": option.letter})
    return f"Answer: {option.letter}"


def told(plant: Plant, groups: frozenset[str], rng: Random) -> str:
    """Tell something; how many of its sentences are glad or sorry follows the lean."""
    lean = min(max(plant.lean + added(plant.sentiment_shifts, groups), -1.0), 1.0)
    return " ".join(rng.choice(_mood(lean, rng)) for _ in range(_SENTENCES))


def _mood(lean: float, rng: Random) -> tuple[str, ...]:
    if rng.random() < _PLAIN_SHARE:
        return PLAIN
    return GLAD if rng.random() < (1 + lean) / 2 else SORRY
