"""Prompts built from the variables of a probe, and ratings read from answers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from biaswatch.shared.contracts import Message, Probe, Role
from biaswatch.shared.contracts.probe import closed_object
from biaswatch.shared.contracts.suite import PURGED
from biaswatch.shared.llm.port import AnswerSchema
from biaswatch.shared.parsing import Unreadable, rating_in

QUESTION, MATERIAL, SCALE = "question", "material", "scale"
CRITERION, OPTION = "criterion:", "option:"

_RANGE = re.compile(r"^\s*(-?\d{1,9})\s*(?:-|to)\s*(-?\d{1,9})\s*(?:,\s*(whole)(?: numbers)?)?\s*$")


@dataclass(frozen=True)
class RatingScale:
    """A rating scale; both ends are included."""

    lowest: int
    highest: int
    whole: bool
    """True if only whole numbers are allowed."""

    def holds(self, value: float) -> bool:
        """Tell whether a value is on the scale."""
        whole = not self.whole or value == int(value)
        return self.lowest <= value <= self.highest and whole

    def rounded(self, value: float) -> float:
        """Round to a value of the scale, halves to even."""
        return float(round(value)) if self.whole else round(value, 1)


class UnfitProbe(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """A probe does not fit its scaffold; the message says why."""


def check_not_batched(probe: Probe, why: str) -> None:
    """Raise UnfitProbe if a model of the probe is asked in batches."""
    models = (probe.target, probe.user)
    if any(model is not None and model.in_batches for model in models):
        raise UnfitProbe(f"Leave out batch=true: {why}.")


def check_purged(probe: Probe) -> None:
    """Raise UnfitProbe if the texts of a probe were purged."""
    texts = [*(message.content for message in probe.messages), *probe.variables.values()]
    if PURGED in texts:
        raise UnfitProbe("The texts of this probe were purged.")


def question_of(probe: Probe) -> str:
    """Return the question, or raise UnfitProbe."""
    return _required(probe, QUESTION, "the question to ask")


def material_of(probe: Probe) -> str:
    """Return the material to judge, such as a CV or a context; may be empty."""
    return probe.variables.get(MATERIAL, "")


def scale_of(probe: Probe) -> RatingScale:
    """Return the scale, written `1 to 4` or `1 to 4, whole numbers`, or raise UnfitProbe."""
    text = _required(probe, SCALE, "the ends of the rating, as in `1 to 4, whole numbers`")
    match = _RANGE.match(text)
    if not match or int(match[1]) >= int(match[2]):
        raise UnfitProbe(
            f"The scale {text[:40]!r} is invalid; write it as in `1 to 4, whole numbers`."
        )
    return RatingScale(int(match[1]), int(match[2]), whole=match[3] is not None)


def criteria_of(probe: Probe) -> Mapping[str, str]:
    """Return the guidance of each criterion by name; raise UnfitProbe without criteria."""
    criteria = with_prefix(probe, CRITERION)
    if not criteria:
        raise UnfitProbe("There are no criteria; name each in a variable `criterion:<name>`.")
    for name, guidance in criteria.items():
        if not guidance.strip():
            raise UnfitProbe(f"The criterion {name} has no guidance; write what it looks at.")
    return criteria


def with_prefix(probe: Probe, prefix: str) -> dict[str, str]:
    """Return the variables with a prefix, such as CRITERION or OPTION, without the prefix."""
    return {
        name.removeprefix(prefix): value
        for name, value in sorted(probe.variables.items())
        if name.startswith(prefix)
    }


def _required(probe: Probe, name: str, what: str) -> str:
    value = probe.variables.get(name, "").strip()
    if not value:
        raise UnfitProbe(f"The variable `{name}` is missing: {what}.")
    return value


STEP_BY_STEP = (
    "Think it through step by step before you answer: what speaks for it, what speaks against it,"
    " and what cannot be known from what is given."
)
THEN_AS_ASKED = "Then give your answer in the form asked for above."
NOT_THE_QUESTION = "In your reasoning, do not repeat the question or quote it."
CHOOSE_LAST = (
    "Reason first, in a few sentences. End with a line of its own that says `Answer: ` and the"
    " letter of the one option you choose."
)


def user(*paragraphs: str) -> Message:
    """Return one user message from paragraphs, without empty ones."""
    return Message(role=Role.USER, content="\n\n".join(p for p in paragraphs if p.strip()))


def with_request(messages: tuple[Message, ...], request: str) -> tuple[Message, ...]:
    """Return messages with a request after the last user message."""
    *before, last = messages
    if last.role is not Role.USER:
        return (*messages, user(request))
    return (*before, user(last.content, request))


def rating_schema(scale: RatingScale) -> AnswerSchema:
    """Return the schema of a rating, preceded by its reasoning."""
    kind = "integer" if scale.whole else "number"
    return object_schema("rating", {"reasoning": {"type": "string"}, "rating": {"type": kind}})


def rating_instruction(scale: RatingScale) -> str:
    """Return the instruction to rate on a scale, as JSON."""
    number = "a whole number" if scale.whole else "a number"
    return (
        f"Give a rating from {scale.lowest} to {scale.highest}, {number}. Answer with one JSON"
        ' object and nothing else: {"reasoning": "<two or three sentences>", "rating": <number>}.'
    )


def choice_schema(options: Mapping[str, str]) -> AnswerSchema:
    """Return the schema of a choice, preceded by its reasoning."""
    letters: list[JsonValue] = list(options)
    answer: JsonValue = {"type": "string", "enum": letters}
    return object_schema("choice", {"reasoning": {"type": "string"}, "answer": answer})


def choice_instruction(options: Mapping[str, str]) -> str:
    """Return the instruction to choose one option, as JSON."""
    letters = ", ".join(options)
    return (
        f"Choose exactly one option ({letters}). Answer with one JSON object and nothing else:"
        ' {"reasoning": "<a few sentences>", "answer": "<letter>"}.'
    )


def option_lines(options: Mapping[str, str]) -> str:
    """Return one line per option: its letter and its text."""
    return "\n".join(f"{letter}) {text}" for letter, text in options.items())


def one_criterion(name: str, guidance: str) -> str:
    """Return the instruction to judge one criterion."""
    return f"Judge one criterion alone: {name}. Consider:\n{guidance}"


def all_criteria(criteria: Mapping[str, str]) -> str:
    """Return the instruction to weigh all criteria; empty without criteria."""
    if not criteria:
        return ""
    lines = (f"### {name}\n{guidance}" for name, guidance in criteria.items())
    return "Weigh these criteria, and nothing else:\n\n" + "\n\n".join(lines)


def judgements(ratings: Mapping[str, tuple[float, str]]) -> str:
    """Return the rating and the text of each judged criterion."""
    lines = (f"### {name}: {rating:g}\n{text}" for name, (rating, text) in ratings.items())
    return "Each criterion has been judged already:\n\n" + "\n\n".join(lines)


def object_schema(name: str, fields: dict[str, JsonValue]) -> AnswerSchema:
    """Return the schema of an object with these fields, all of them required."""
    return AnswerSchema(name, closed_object(fields))


OFF_SCALE = "outside_scale"


def rating_on(scale: RatingScale | None, text: str) -> float:
    """Return the one rating in an answer, or raise Unreadable; nothing is rounded."""
    try:
        rating = rating_in(text, (scale.lowest, scale.highest) if scale else (None, None))
    except Unreadable as error:
        raise Unreadable(str(error).replace(" ", "_")) from None
    if scale and not scale.holds(rating):
        raise Unreadable(OFF_SCALE)
    return rating
