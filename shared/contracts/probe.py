"""One thing to ask one target, once."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue, NonNegativeInt, StringConstraints, model_validator

from biaswatch.shared.contracts.identity import (
    BEGINNING_HEX_DIGITS,
    Name,
    RecordId,
    Token,
    derived_id,
    id_beginning_with,
)
from biaswatch.shared.contracts.record import TEXT, Part, Record, computed_once, empty_mapping
from biaswatch.shared.contracts.target import Target
from biaswatch.shared.contracts.tools import MAX_STEPS, Tool, ToolCall

CONVERSATION = "conversation"
"""The scaffold that sends the user messages one by one."""


class Role(StrEnum):
    """Who speaks in a conversation."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ReplyCondition(Part):
    """A condition on the model's last reply in a conversation."""

    refused: bool | None = None
    """True if the reply has to decline the request, false if it must not."""
    contains: str | None = None
    """A phrase that the reply has to contain, in any case of letters."""

    @model_validator(mode="after")
    def _names_something(self) -> "ReplyCondition":
        if self.refused is None and not self.contains:
            raise ValueError("a condition needs `refused` or `contains`")
        return self


class Message(Part):
    """One message of a conversation; the conditions apply to the scaffold `conversation`."""

    role: Role
    """Who speaks."""
    content: str
    """The text; of a simulated message, the instruction to the simulated user."""
    simulated: bool = False
    """True if the simulated user writes the message."""
    when: ReplyCondition | None = None
    """The condition under which it is sent; null for a message that is always sent."""
    otherwise: str | None = None
    """The text where the condition does not hold; without one, the message is left out."""
    calls: tuple[ToolCall, ...] = ()
    """The tools that an assistant message calls."""
    call_id: Name | None = None
    """The call whose result a tool message holds."""


def with_replies(messages: Sequence[Message]) -> list[tuple[Message, bool]]:
    """Return each message, and whether an assistant message follows it.

    The scaffold `conversation` asks the user messages without one.
    """
    following = [message.role is Role.ASSISTANT for message in messages[1:]]
    return list(zip(messages, [*following, False][: len(messages)], strict=True))


def turn_count(messages: Sequence[Message]) -> int:
    """Return the number of user messages of a conversation that the model has to answer."""
    return sum(
        message.role is Role.USER and not has_reply for message, has_reply in with_replies(messages)
    )


class MeasuredPart(StrEnum):
    """The part of an answer that an extractor of the same name measures."""

    RATING = "rating"
    CHOICE = "choice"
    RANKING = "ranking"


OptionLetter = Annotated[str, StringConstraints(pattern=r"^[A-Z]$")]


class RequestedPart(Part):
    """The part of an answer that is measured; the rest of the answer may be missing."""

    part: MeasuredPart
    """Which part."""
    low: float | None = None
    """The least possible rating, where it is known."""
    high: float | None = None
    """The largest possible rating, where it is known."""
    options: tuple[OptionLetter, ...] = ()
    """The letters to choose from."""


class Probe(Record):
    """Messages, or variables for a scaffold, for one target; and what is known about them."""

    kind = "probe"
    identity = ("run_id", "key", "lane", "scaffold", "repeat")

    run_id: RecordId
    """The run or monitor round that asks."""
    key: Name
    """The probe's name in its suite."""
    target: Target
    """The target."""
    scaffold: Token = "direct"
    """How the question becomes one or more model calls and an answer."""
    repeat: NonNegativeInt = 0
    """Which repeat of the same question this is, counted from 0."""
    messages: Annotated[tuple[Message, ...], TEXT] = ()
    """The messages to the model."""
    variables: Annotated[dict[str, str], TEXT] = empty_mapping()
    """Values that a scaffold puts into its own wording."""
    groups: dict[str, str] = empty_mapping()
    """Whom the probe is about, by dimension: `{"race": "black", "gender": "female"}`."""
    set_id: Name | None = None
    """The counterfactual set; its twins differ in the groups alone."""
    unit_id: Name
    """The unit of analysis: the prompt, not the response."""
    baseline: Annotated[str | None, TEXT] = None
    """The text a response's measurement is compared with."""
    expected: Annotated[str | None, TEXT] = None
    """The right answer, where there is one."""

    stimuli: dict[str, str] = empty_mapping()
    """Values that represent the group or carry the question, by factor: `{"name": "Emily", "text":
    "cv07"}`."""
    answer_schema: dict[str, JsonValue] | None = None
    """JSON Schema of the answer, for providers that enforce one; null for free text."""
    facts: dict[str, str] = empty_mapping()
    """Known facts that are hidden from the model: its category, the biased option."""
    requested: RequestedPart | None = None
    """The part of the answer that is measured, where the suite declares it."""
    tools: Annotated[tuple[Tool, ...], TEXT] = ()
    """The tools that the model may call, with their results for this probe."""
    most_steps: Annotated[int, Field(ge=1, le=MAX_STEPS)] = 8
    """Largest number of model calls of the scaffold `tools`."""
    measure: tuple[Token, ...] = ()
    """The extractors that are to measure the answer."""
    cache_apart: bool = False
    """True if the provider's cache of prompts must keep this call apart from others: its request
    carries an end user and a cache key of its own, where the provider takes them."""
    position: Annotated[int, Field(ge=0, lt=16**BEGINNING_HEX_DIGITS)] | None = None
    """The position of the question in its suite, from 0; in production traffic, the time in
    its window, in 2^32 parts. The ids of the probe, its response and its
    features then begin with the run and with this. Null where they are hashes alone."""
    user: Target | None = None
    """The simulated user of a conversation, with its persona as the system prompt; null for the
    target itself without a persona."""
    fresh: bool = False
    """True if the call is made anew even where its answer was kept; judges may."""

    @computed_once
    def id_beginning(self) -> str:
        """The run and the position: a store is then written in the order of asking."""
        if self.position is None:
            return ""
        return f"{self.run_id[:BEGINNING_HEX_DIGITS]}{self.position:0{BEGINNING_HEX_DIGITS}x}"

    @computed_once
    def response_id(self) -> str:
        """The id that its response will have, computed once: planner and generator ask often."""
        id_ = derived_id("response", self.tenant, self.purpose, self.id)
        return id_beginning_with(self.id_beginning, id_)

    @property
    def lane(self) -> str:
        """Each target has its own, so that a throttled model blocks no other."""
        return self.target.lane


def closed_object(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the JSON Schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
