"""Runs as people ask for them, and how they stand."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PositiveInt

from shared.contracts import (
    Budget,
    ClosedBy,
    ExtractorPin,
    ExtractorStatus,
    GatherState,
    Judging,
    Run,
    Suite,
    parse_target,
)
from shared.contracts.identity import RecordId
from shared.errors import UsageError

ITSELF, NOBODY = "self", "none"


class RunRequest(BaseModel):
    """What a person asks for."""

    model_config = ConfigDict(extra="forbid")

    suite_hash: RecordId
    targets: list[str] = Field(min_length=1)
    scaffolds: list[str] = Field(default=["direct"], min_length=1)
    repeats: PositiveInt = 1
    parameters: dict[str, JsonValue] = {}
    system_prompt: str | None = None
    nonce: str = ""
    budget: Budget = Budget()
    judges: list[str] = []
    """Who judges pairs of answers: targets; none named, each target its own; `none`, nobody."""
    judge_seed: int = 0
    """What the judges' distractors and their order are drawn from."""


class Stand(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    DIAGNOSING = "diagnosing"
    JUDGING = "judging"
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
    verdicts: int = 0
    """Pairs that have a verdict, or a reason for having none; and judges with their controls."""
    verdicts_expected: int = 0

    @property
    def ended(self) -> bool:
        """Tell whether nothing more will come, unless somebody takes it up again."""
        return self.stand in ENDED


class Started(BaseModel):
    """A run that was asked for, and with which opening its news begin."""

    run: Run
    opening: int


ENDED = {Stand.COMPLETE, Stand.INCOMPLETE, Stand.CANCELLED}
"""Nothing more will come, unless somebody takes the run up again."""


def check_features(suite: Suite, running: Sequence[ExtractorStatus]) -> None:
    """Refuse a suite that looks at a number nothing of it measures: its run would show nothing.

    Raises
    ------
    UsageError
        With the numbers there are.
    """
    measured = {f for each in running if each.name in suite.extractors for f in each.features}
    for field in ("features", "assessed", "selected_at_least"):
        for name in getattr(suite, field):
            if name not in measured:
                raise UsageError(
                    f"The suite's `{field}` names {name}, which its extractors do not measure; they"
                    f" measure {', '.join(sorted(measured)) or 'nothing'}."
                )


def run_of(
    asked: RunRequest, suite: Suite, running: Sequence[ExtractorStatus], at: datetime
) -> Run:
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
    pins = tuple(_pin(name, running) for name in suite.extractors)
    check_features(suite, running)
    return Run(
        at=at,
        suite=suite.name,
        suite_hash=suite.hash,
        targets=targets,
        scaffolds=tuple(asked.scaffolds),
        repeats=asked.repeats,
        extractors=pins,
        nonce=asked.nonce,
        budget=asked.budget,
        judging=_judging(asked, suite),
    )


def _judging(asked: RunRequest, suite: Suite) -> Judging | None:
    named = [judge for judge in asked.judges if judge != ITSELF]
    if not suite.pairs:
        if named and named != [NOBODY]:
            raise UsageError(
                f"The suite {suite.name} has no pairs of questions, so there is nothing to judge."
            )
        return None
    if NOBODY in named or (named and len(named) < len(asked.judges)):
        if asked.judges == [NOBODY]:
            return None
        raise UsageError(f"The judges {NOBODY} and {ITSELF} each stand alone; name one of them.")
    return Judging(judges=tuple(map(parse_target, named)), seed=asked.judge_seed)


def verdicts_of(run: Run, suite: Suite | None) -> int:
    """Tell how many verdicts a run will have: one for each pair, and each judge's controls."""
    if run.judging is None or suite is None:
        return 0
    pairs = suite.pairs * len(run.targets) * len(run.scaffolds) * run.repeats
    return pairs + len({judge.lane for judge in run.judging.judges or run.targets})


def _pin(name: str, running: Sequence[ExtractorStatus]) -> ExtractorPin:
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


def stand_of(waiting: GatherState | None, *, diagnosed: bool, judged: bool = True) -> Stand:
    """Tell how a run stands from how the planner waits for it, and what came of it."""
    if waiting is None or waiting.closed_by is None:
        return Stand.RUNNING
    if not diagnosed:
        return Stand.DIAGNOSING
    if waiting.closed_by is ClosedBy.CANCELLATION and waiting.arrived < waiting.expected:
        return Stand.CANCELLED
    if not judged:
        return Stand.JUDGING
    return Stand.COMPLETE if waiting.arrived == waiting.expected else Stand.INCOMPLETE
