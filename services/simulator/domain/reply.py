"""The whole answer of a model to a request: the fault it meets, or its words."""

import hashlib
import json
from dataclasses import dataclass
from random import Random

from biaswatch.services.simulator.domain.judging import grade_answer, verdict_answer
from biaswatch.services.simulator.domain.planted_bias import (
    Faults,
    Markers,
    PlantedModel,
    added,
    groups_in,
)
from biaswatch.services.simulator.domain.question import (
    ChoiceQuestion,
    GradeQuestion,
    RatingQuestion,
    ReportQuestion,
    Turn,
    VerdictQuestion,
    question_in,
)
from biaswatch.services.simulator.domain.speech import (
    REFUSAL,
    choice_answer,
    free_text,
    rating_answer,
    report_answer,
)


@dataclass(frozen=True)
class SimulatedRequest:
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
        """What the random numbers of the answer depend on."""
        said = json.dumps([[turn.role, turn.content] for turn in self.turns])
        return self.model, said, self.repeat_key


@dataclass(frozen=True)
class SimulatedReply:
    """What the model says."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


def fault_for(seed: int, request: SimulatedRequest, faults: Faults) -> str | None:
    """Return the fault this attempt meets, or none; another attempt draws anew."""
    drawn = seeded_rng(seed, "fault", *request.purpose, request.attempt).random()
    for name, share in faults.shares:
        if drawn < share:
            return name
        drawn -= share
    return None


def words_for(seed: int, request: SimulatedRequest, model: PlantedModel, markers: Markers) -> str:
    """Return the words of the answer."""
    rng = seeded_rng(seed, "words", *request.purpose)
    groups = groups_in(request.text, markers)
    # Drawn first and always, so that a refusal gap leaves the other answers as they were.
    if rng.random() < model.refusal_rate + added(model.refusal_gaps, groups):
        return REFUSAL
    match question_in(request.turns):
        case RatingQuestion() as rating:
            return rating_answer(rating, model, groups, request.text, rng)
        case ChoiceQuestion() as choice:
            return choice_answer(choice, model, markers, rng)
        case ReportQuestion() as essay:
            return report_answer(essay.prompt, model)
        case GradeQuestion() as grade:
            return grade_answer(grade, model, groups, rng)
        case VerdictQuestion() as verdict:
            return verdict_answer(verdict, model, groups, rng)
        case _:
            return free_text(model, groups, rng)


def reply_to(
    request: SimulatedRequest, words: str, *, fault: str | None, faults: Faults, limit: int | None
) -> SimulatedReply:
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
    return SimulatedReply(text, reason, len(request.text.split()), len(text.split()))


def seeded_rng(seed: int, *purpose: str) -> Random:
    """Return the random numbers that belong to this seed and purpose, the same ones every time."""
    name = json.dumps([seed, *purpose]).encode()
    digest = hashlib.blake2b(name, digest_size=16).digest()
    return Random(int.from_bytes(digest))  # noqa: S311 - a simulation, not a secret
