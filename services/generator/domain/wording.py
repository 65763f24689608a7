"""The words scaffolds add to what a suite says; the scale stands before anything it is read in."""

from collections.abc import Mapping

from pydantic import JsonValue

from services.generator.domain.variables import Scale
from shared.contracts import Message, Role
from shared.llm.port import Form

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
    """Return one turn of the user from paragraphs; empty ones are left out."""
    return Message(role=Role.USER, content="\n\n".join(p for p in paragraphs if p.strip()))


def rating_form(scale: Scale) -> Form:
    """Return the shape of a rating with its reasoning, which comes first."""
    kind = "integer" if scale.whole else "number"
    return _form("rating", {"reasoning": {"type": "string"}, "rating": {"type": kind}})


def rating_instruction(scale: Scale) -> str:
    """Ask for a rating on a scale, as JSON."""
    number = "a whole number" if scale.whole else "a number"
    return (
        f"Give a rating from {scale.lowest} to {scale.highest}, {number}. Answer with one JSON"
        ' object and nothing else: {"reasoning": "<two or three sentences>", "rating": <number>}.'
    )


def choice_form(options: Mapping[str, str]) -> Form:
    """Return the shape of a choice with its reasoning, which comes first."""
    letters: list[JsonValue] = list(options)
    answer: JsonValue = {"type": "string", "enum": letters}
    return _form("choice", {"reasoning": {"type": "string"}, "answer": answer})


def choice_instruction(options: Mapping[str, str]) -> str:
    """Ask for one of the options, as JSON."""
    letters = ", ".join(options)
    return (
        f"Choose exactly one option ({letters}). Answer with one JSON object and nothing else:"
        ' {"reasoning": "<a few sentences>", "answer": "<letter>"}.'
    )


def listed(options: Mapping[str, str]) -> str:
    """Return the options, each on a line of its own behind its letter."""
    return "\n".join(f"{letter}) {text}" for letter, text in options.items())


def one_criterion(name: str, guidance: str) -> str:
    """Narrow the question to one criterion, with all of its guidance."""
    return f"Judge one criterion alone: {name}. What to look at for it:\n{guidance}"


def all_criteria(criteria: Mapping[str, str]) -> str:
    """Name every criterion with all of its guidance, to be weighed together; none gives nothing."""
    if not criteria:
        return ""
    told = (f"### {name}\n{guidance}" for name, guidance in criteria.items())
    return "Weigh these criteria, and nothing else:\n\n" + "\n\n".join(told)


def judgements(given: Mapping[str, tuple[float, str]]) -> str:
    """Tell what was said of each criterion."""
    told = (f"### {name}: {rating:g}\n{text}" for name, (rating, text) in given.items())
    return "Each criterion has been judged already:\n\n" + "\n\n".join(told)


def _form(name: str, fields: dict[str, JsonValue]) -> Form:
    required: list[JsonValue] = list(fields)
    return Form(
        name,
        {
            "type": "object",
            "properties": fields,
            "required": required,
            "additionalProperties": False,
        },
    )
