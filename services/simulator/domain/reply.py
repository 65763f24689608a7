"""The reply of a simulated model to a request: its text or a fault."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

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
)
from biaswatch.services.simulator.domain.written_reports import report_answer


@dataclass(frozen=True)
class OfferedTool:
    """A tool that a request declares."""

    name: str
    parameters: Mapping[str, Mapping[str, Any]]
    """The JSON Schema of each argument."""


@dataclass(frozen=True)
class SimulatedCall:
    """A call of a tool."""

    id: str
    name: str
    arguments: str
    """A JSON object."""


@dataclass(frozen=True)
class SimulatedRequest:
    """The parts of a request on which the answer depends."""

    model: str
    turns: tuple[Turn, ...]
    repeat_key: str
    attempt: str = "0"
    """Number of the attempt; affects faults only."""
    tools: tuple[OfferedTool, ...] = ()
    """The tools that may be called."""

    @property
    def text(self) -> str:
        """The text of all turns."""
        return "\n".join(turn.content for turn in self.turns)

    @property
    def purpose(self) -> tuple[str, str, str]:
        """The seed of the random numbers of the answer."""
        turns = json.dumps([[turn.role, turn.content, *turn.calls] for turn in self.turns])
        return self.model, turns, self.repeat_key


@dataclass(frozen=True)
class SimulatedReply:
    """A reply with its usage."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    call: SimulatedCall | None = None
    """The tool that is called instead of an answer."""


def fault_for(seed: int, request: SimulatedRequest, faults: Faults) -> str | None:
    """Return the fault of this attempt, or None; each attempt is drawn separately."""
    drawn = seeded_rng(seed, "fault", *request.purpose, request.attempt).random()
    for name, share in faults.shares:
        if drawn < share:
            return name
        drawn -= share
    return None


def words_for(seed: int, request: SimulatedRequest, model: PlantedModel, markers: Markers) -> str:
    """Return the text of the answer."""
    rng = seeded_rng(seed, "words", *request.purpose)
    groups = groups_in(request.text, markers)
    # Always drawn first, so that a refusal gap does not change the other answers.
    if rng.random() < model.refusal_rate + added(model.refusal_gaps, groups):
        return REFUSAL
    match question_in(request.turns):
        case RatingQuestion() as rating:
            gap = added(model.rating_gaps, groups) + conditional_gap(request, model, groups)
            return rating_answer(rating, model, groups, request.text, gap, rng)
        case ChoiceQuestion() as choice:
            return choice_answer(choice, model, markers, rng)
        case ReportQuestion() as report:
            return report_answer(report.prompt, model, rng)
        case GradeQuestion() as grade:
            return grade_answer(grade, model, groups, rng)
        case VerdictQuestion() as verdict:
            return verdict_answer(verdict, model, groups, rng)
        case _:
            return free_text(model, groups, rng)


def conditional_gap(
    request: SimulatedRequest, model: PlantedModel, groups: frozenset[str]
) -> float:
    """Return the sum of the gaps whose turn is reached and whose phrase is in the messages."""
    turns, text = sum(turn.role == "user" for turn in request.turns), request.text.casefold()
    return sum(
        added(gaps.rating_gaps, groups)
        for gaps in model.conditional_gaps
        if turns >= gaps.from_turn and gaps.phrase.casefold() in text
    )


def reply_to(
    request: SimulatedRequest,
    words: str,
    *,
    fault: str | None,
    faults: Faults,
    limit: int | None,
    call: SimulatedCall | None = None,
) -> SimulatedReply:
    """Return the reply for a text after a fault and a limit of tokens (words)."""
    text, reason = words, "stop"
    if call and fault is None:
        return SimulatedReply("", "tool_calls", len(request.text.split()), 1, call)
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
    """Return a generator of random numbers, seeded by seed and purpose."""
    name = json.dumps([seed, *purpose]).encode()
    digest = hashlib.blake2b(name, digest_size=16).digest()
    return Random(int.from_bytes(digest))  # noqa: S311 - not for security
