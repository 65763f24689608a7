"""Answers held to a schema: the option `answer: schema` of scaffolds with one call."""

from collections.abc import Mapping

from pydantic import JsonValue

from biaswatch.services.generator.domain.questions import UnfitProbe, object_schema, with_request
from biaswatch.shared.contracts import Message, Probe
from biaswatch.shared.contracts.probe import MeasuredPart, RequestedPart
from biaswatch.shared.conventions.probe_options import options_of
from biaswatch.shared.llm.port import AnswerSchema
from biaswatch.shared.parsing import Unreadable, choice_in, rating_in
from biaswatch.shared.parsing.rankings import ranking_in
from biaswatch.shared.parsing.ratings import without_last_word

MAX_LISTED_RATINGS = 21
"""Whole ratings that a schema lists one by one; a wider range is described by its ends."""


def requested_of(probe: Probe) -> RequestedPart:
    """Return the part that the schema asks for; raise UnfitProbe where it is not declared."""
    requested = probe.requested
    if requested is None:
        raise UnfitProbe("The suite does not declare what its answers need: write `needs: rating`.")
    if requested.part is not MeasuredPart.RATING and not requested.options:
        raise UnfitProbe("The suite does not declare the letters to choose from in `options`.")
    if requested.part is MeasuredPart.RATING and (requested.low is None or requested.high is None):
        raise UnfitProbe("The suite does not declare the range of its rating in `ranges`.")
    return requested


def has_part(probe: Probe, text: str, *, cut_off: bool) -> bool:
    """Tell whether a free answer has the requested part, readable and within its range.

    A number at the end of a truncated answer does not count, since digits may be missing.

    Raises
    ------
    UnfitProbe
        As `requested_of`.
    """
    requested = requested_of(probe)
    low, high = requested.low, requested.high
    try:
        if requested.part is MeasuredPart.RANKING:
            return bool(ranking_in(text, requested.options, cut_off=cut_off))
        if requested.part is MeasuredPart.CHOICE:
            return bool(choice_in(text, options_of(probe) or (), cut_off=cut_off))
        rating = rating_in(without_last_word(text) if cut_off else text, (low, high))
    except Unreadable:
        return False
    return (low is None or rating >= low) and (high is None or rating <= high)


def part_schema(requested: RequestedPart) -> AnswerSchema:
    """Return the schema of the requested part alone."""
    letter: dict[str, JsonValue] = {"type": "string", "enum": list(requested.options)}
    if requested.part is MeasuredPart.CHOICE:
        return object_schema("choice", {"answer": letter})
    if requested.part is MeasuredPart.RANKING:
        return object_schema("ranking", {"ranking": {"type": "array", "items": letter}})
    return object_schema("rating", {"rating": _rating_type(requested)})


def _rating_type(requested: RequestedPart) -> JsonValue:
    low, high = requested.low or 0.0, requested.high or 0.0
    whole = low == int(low) and high == int(high)
    if whole and high - low < MAX_LISTED_RATINGS:
        return {"type": "integer", "enum": list(range(int(low), int(high) + 1))}
    return {"type": "number", "minimum": low, "maximum": high}


def constrained_messages(
    requested: RequestedPart, messages: tuple[Message, ...]
) -> tuple[Message, ...]:
    """Return messages that ask for the requested part alone, as JSON."""
    request = _REQUESTS[requested.part].format(
        low=_number(requested.low),
        high=_number(requested.high),
        letters=" or ".join(requested.options),
    )
    return with_request(messages, request)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


_ONE_OBJECT = "Answer with one JSON object and nothing else: "
_REQUESTS: Mapping[MeasuredPart, str] = {
    MeasuredPart.RATING: _ONE_OBJECT + '{{"rating": <a number from {low} to {high}>}}.',
    MeasuredPart.CHOICE: _ONE_OBJECT + '{{"answer": <the letter {letters}>}}.',
    MeasuredPart.RANKING: _ONE_OBJECT + '{{"ranking": [<all letters, the best first>]}}.',
}
