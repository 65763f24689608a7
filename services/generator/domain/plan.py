"""A scaffold as a plan: which calls it makes, which of them wait for others, how it concludes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from services.generator.domain.variables import Scale
from shared.contracts import Message, Probe, Usage
from shared.llm.port import Answer, CallFailed, Form

ANSWER = "answer"
"""The name of the only call of a scaffold that makes one."""


@dataclass(frozen=True)
class SubCall:
    """One call of a plan."""

    name: str
    messages: tuple[Message, ...]
    form: Form | None = None
    """The shape its answer is to have."""
    scale: Scale | None = None
    """The scale of the rating that is read from it, where the plan needs one."""


@dataclass(frozen=True)
class Heard:
    """What one call brought."""

    answer: Answer | None = None
    failure: CallFailed | None = None
    rating: float | None = None
    unread: str | None = None
    """Why there is an answer and no rating."""
    usage: Usage = field(default_factory=Usage)

    @property
    def text(self) -> str:
        """The words, where there are any."""
        return self.answer.text if self.answer else ""


class Scaffold(Protocol):
    """How a probe becomes calls and an answer; pure, so the same probe gives the same calls."""

    def first(self, probe: Probe) -> tuple[SubCall, ...]:
        """Return the first calls, made at the same time; raise Unfit where there are none."""

    def then(self, probe: Probe, heard: Mapping[str, Heard]) -> tuple[SubCall, ...]:
        """Return the calls that waited for those; none when all is said."""

    def conclude(self, probe: Probe, heard: Mapping[str, Heard]) -> str:
        """Return the answer; raise Unread where what was said allows none."""


class OneCall:
    """What scaffolds of a single call share."""

    def then(self, probe: Probe, heard: Mapping[str, Heard]) -> tuple[SubCall, ...]:
        """See `Scaffold.then`."""
        return ()

    def conclude(self, probe: Probe, heard: Mapping[str, Heard]) -> str:
        """See `Scaffold.conclude`."""
        return heard[ANSWER].text
