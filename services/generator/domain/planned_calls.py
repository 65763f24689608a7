"""Planned model calls, their results, and the interface of scaffolds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from biaswatch.services.generator.domain.questions import RatingScale
from biaswatch.shared.contracts import Message, Probe, Target, Usage
from biaswatch.shared.contracts.tools import Tool, ToolCall
from biaswatch.shared.llm.port import AnswerSchema, CallFailed, Continuations, ModelAnswer

ANSWER = "answer"
"""Name of the only call of a scaffold with one call."""


@dataclass(frozen=True)
class PlannedCall:
    """One planned model call."""

    name: str
    messages: tuple[Message, ...]
    answer_schema: AnswerSchema | None = None
    """The schema of the answer."""
    scale: RatingScale | None = None
    """The scale of the rating to read from the answer, if the plan needs one."""
    enforced: bool = False
    """True if the schema is sent to servers that imitate a provider, too."""
    continuations: Continuations | None = None
    """The texts to score; None for a call that asks for an answer."""
    tools: tuple[Tool, ...] = ()
    """The tools that the model may call."""
    target: Target | None = None
    """The model of this call; None for the target of the probe."""
    key: str = ""
    """The key of its stored answer among the calls of the probe; by default its name."""

    @property
    def stored_as(self) -> str:
        """The key of its stored answer."""
        return self.key or self.name


@dataclass(frozen=True)
class CallResult:
    """The result of one call."""

    answer: ModelAnswer | None = None
    failure: CallFailed | None = None
    rating: float | None = None
    unread: str | None = None
    """The reason why the answer has no rating."""
    usage: Usage = field(default_factory=Usage)

    @property
    def text(self) -> str:
        """The text of the answer; empty without one."""
        return self.answer.text if self.answer else ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that the model calls."""
        return self.answer.calls if self.answer and not self.failure else ()


class Scaffold(Protocol):
    """A pure plan of model calls for a probe; by default of one call."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """Return the first calls, made concurrently; raise UnfitProbe if the probe does not fit."""

    def then(self, probe: Probe, results: Mapping[str, CallResult]) -> tuple[PlannedCall, ...]:
        """Return the next calls, which depend on the results; none at the end."""
        return ()

    def required(self, results: Mapping[str, CallResult]) -> Mapping[str, CallResult]:
        """Return the results required for an answer; by default all of them."""
        return results

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """Return the answer; raise Unreadable if the results allow none."""
        return results[ANSWER].text
