"""Scaffolds: how a probe becomes calls and an answer; every file here adds those it names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from biaswatch.services.generator.domain.questions import RatingScale, UnfitProbe
from biaswatch.shared.contracts import Message, Probe, Usage
from biaswatch.shared.llm.port import AnswerSchema, CallFailed, ModelAnswer

ANSWER = "answer"
"""The name of the only call of a scaffold that makes one."""


@dataclass(frozen=True)
class PlannedCall:
    """One call of a plan."""

    name: str
    messages: tuple[Message, ...]
    answer_schema: AnswerSchema | None = None
    """The schema its answer is to have."""
    scale: RatingScale | None = None
    """The scale of the rating that is read from it, where the plan needs one."""


@dataclass(frozen=True)
class CallResult:
    """What one call brought."""

    answer: ModelAnswer | None = None
    failure: CallFailed | None = None
    rating: float | None = None
    unread: str | None = None
    """Why there is an answer and no rating."""
    usage: Usage = field(default_factory=Usage)

    @property
    def text(self) -> str:
        """The words of the answer, empty without one."""
        return self.answer.text if self.answer else ""


class Scaffold(Protocol):
    """How a probe becomes calls and an answer; pure, so the same probe gives the same calls.

    What is not said otherwise is that of a scaffold with one call.
    """

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """Return the first calls, made at the same time; raise UnfitProbe where there are none."""

    def then(self, probe: Probe, results: Mapping[str, CallResult]) -> tuple[PlannedCall, ...]:
        """Return the calls that waited for those; none at the end."""
        return ()

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """Return the answer; raise Unreadable where the results allow none."""
        return results[ANSWER].text


_MODULES = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
SCAFFOLDS: Mapping[str, Callable[[], Scaffold]] = {
    name: make for each in _MODULES for name, make in each.SCAFFOLDS.items()
}
"""What makes each scaffold, by its name."""


def scaffold_of(name: str) -> Scaffold:
    """Return the scaffold of this name, or raise UnfitProbe."""
    if name not in SCAFFOLDS:
        raise UnfitProbe(f"There is no scaffold {name}; there are {', '.join(sorted(SCAFFOLDS))}.")
    return SCAFFOLDS[name]()
