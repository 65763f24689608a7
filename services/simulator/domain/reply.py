"""The whole answer of a model to a request: the fault it meets, or its words."""

import json
from dataclasses import dataclass

from services.simulator.domain.essay import graded, written
from services.simulator.domain.groups import Markers, groups_in
from services.simulator.domain.luck import luck
from services.simulator.domain.plant import Faults, Plant, added
from services.simulator.domain.question import Choice, Essay, Grade, Rating, Turn, question_in
from services.simulator.domain.speech import chosen, rated, told
from services.simulator.domain.wording import REFUSAL


@dataclass(frozen=True)
class Asked:
    """One request, as far as the answer depends on it."""

    model: str
    turns: tuple[Turn, ...]
    repeat_key: str
    attempt: str = "0"
    """Which try it is; it decides about faults alone, never about words."""

    @property
    def text(self) -> str:
        """All that was said."""
        return "\n".join(turn.content for turn in self.turns)

    @property
    def purpose(self) -> tuple[str, str, str]:
        """What the luck of the answer hangs on."""
        said = json.dumps([[turn.role, turn.content] for turn in self.turns])
        return self.model, said, self.repeat_key


@dataclass(frozen=True)
class Reply:
    """What the model says."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


def fault_for(seed: int, asked: Asked, faults: Faults) -> str | None:
    """Return the fault this attempt meets, or none; another attempt draws anew."""
    drawn = luck(seed, "fault", *asked.purpose, asked.attempt).random()
    for name, share in faults.shares:
        if drawn < share:
            return name
        drawn -= share
    return None


def words_for(seed: int, asked: Asked, plant: Plant, markers: Markers) -> str:
    """Return the words of the answer, whole."""
    rng = luck(seed, "words", *asked.purpose)
    groups = groups_in(asked.text, markers)
    # Drawn first and always, so that a refusal gap leaves the other answers as they were.
    if rng.random() < plant.refusal_rate + added(plant.refusal_gaps, groups):
        return REFUSAL
    match question_in(asked.turns):
        case Rating() as rating:
            return rated(rating, plant, groups, asked.text, rng)
        case Choice() as choice:
            return chosen(choice, plant, markers, rng)
        case Essay() as essay:
            return written(essay.asked, plant)
        case Grade() as grade:
            return graded(grade.report, plant, rng)
        case _:
            return told(plant, groups, rng)


def reply_to(
    asked: Asked, words: str, *, fault: str | None, faults: Faults, limit: int | None
) -> Reply:
    """Return the reply these words become under a fault and a token limit (a token is a word)."""
    text, reason = words, "stop"
    if fault == "oversize":
        text = (words + " ") * (faults.oversize_chars // (len(words) + 1) + 1)
        text = text[: faults.oversize_chars]
    elif fault == "truncated":
        text, reason = words[: len(words) // 2], "length"
    elif fault == "content_filter":
        text, reason = "", "content_filter"
    if limit is not None and len(text.split()) > limit:
        text, reason = " ".join(text.split()[:limit]), "length"
    return Reply(text, reason, len(asked.text.split()), len(text.split()))
