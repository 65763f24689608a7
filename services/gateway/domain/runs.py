"""Runs as people ask for them, and how they stand."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PositiveInt

from shared.contracts import Budget, ClosedBy, ExtractorPin, Run, Suite
from shared.errors import UsageError
from shared.llm.target import parse_target
from shared.store import GatherState, Instrument


class RunRequest(BaseModel):
    """What a person asks for."""

    model_config = ConfigDict(extra="forbid")

    suite_hash: str
    targets: list[str] = Field(min_length=1)
    scaffolds: list[str] = Field(default=["direct"], min_length=1)
    repeats: PositiveInt = 1
    parameters: dict[str, JsonValue] = {}
    system_prompt: str | None = None
    nonce: str = ""
    budget: Budget = Budget()


class Stand(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    DIAGNOSING = "diagnosing"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    CANCELLED = "cancelled"


class Progress(BaseModel):
    """How far a run is."""

    run_id: str
    suite: str
    targets: list[str]
    at: datetime
    stand: Stand
    stopped_by: str | None = None
    """Why it was stopped before its time, where nobody cancelled it."""
    opening: int
    """How often the run has been taken up again."""
    probes: int
    responses: int
    features: int
    features_expected: int
    diagnoses: int


class Started(BaseModel):
    """A run that was asked for, and with which opening its news begin."""

    run: Run
    opening: int


ENDED = {Stand.COMPLETE, Stand.INCOMPLETE, Stand.CANCELLED}
"""Nothing more will come, unless somebody takes the run up again."""


def run_of(asked: RunRequest, suite: Suite, running: Sequence[Instrument], at: datetime) -> Run:
    """Turn what was asked into a run.

    Raises
    ------
    UsageError
        A target cannot be understood, or an extractor the suite needs is not running.
    """
    targets = tuple(
        parse_target(t, parameters=asked.parameters, system_prompt=asked.system_prompt)
        for t in asked.targets
    )
    return Run(
        at=at,
        suite=suite.name,
        suite_hash=suite.hash,
        targets=targets,
        scaffolds=tuple(asked.scaffolds),
        repeats=asked.repeats,
        extractors=tuple(_pin(name, running) for name in suite.extractors),
        nonce=asked.nonce,
        budget=asked.budget,
    )


def _pin(name: str, running: Sequence[Instrument]) -> ExtractorPin:
    for instrument in running:
        if instrument.name == name:
            return ExtractorPin(name=name, version=instrument.version)
    known = ", ".join(sorted({instrument.name for instrument in running})) or "none"
    raise UsageError(
        f"The extractor {name} is not running; running are {known}. Start it, or take it out of the"
        " suite."
    )


def compares(suite: Suite | None) -> bool:
    """Tell whether there is anything to compare: some probe names a group."""
    return suite is not None and any(probe.groups for probe in suite.probes)


def stand_of(waiting: GatherState | None, *, diagnosed: bool) -> Stand:
    """Tell how a run stands from how the planner waits for it."""
    if waiting is None or waiting.closed_by is None:
        return Stand.RUNNING
    if not diagnosed:
        return Stand.DIAGNOSING
    if waiting.arrived == waiting.expected:
        return Stand.COMPLETE
    return Stand.CANCELLED if waiting.closed_by is ClosedBy.CANCELLATION else Stand.INCOMPLETE
