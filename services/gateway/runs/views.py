"""Runs and interpretations as the API shows them."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel

from shared.contracts import ClosedBy, Evaluation, Run, Suite


class StoredSuite(BaseModel):
    """A suite that was stored."""

    hash: str


class RunState(StrEnum):
    """What a run is waiting for, or how it ended."""

    RUNNING = "running"
    DIAGNOSING = "diagnosing"
    JUDGING = "judging"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    CANCELLED = "cancelled"


class RunProgress(BaseModel):
    """How far a run is."""

    run_id: str
    suite: str
    targets: list[str]
    at: datetime
    stand: RunState
    stopped_by: str | None = None
    """Why it was stopped early, if it was not cancelled by a person."""
    opening: int
    """How often the run has been resumed."""
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
        """Return whether nothing more will come, unless somebody resumes the run."""
        return self.stand in ENDED


class StartedRun(BaseModel):
    """A requested run, and the opening from which its events count."""

    run: Run
    opening: int


ENDED = {RunState.COMPLETE, RunState.INCOMPLETE, RunState.CANCELLED}
"""Nothing more will come, unless somebody resumes the run."""


def verdicts_expected(run: Run, suite: Suite | None) -> int:
    """Return how many verdicts a run will have: one a pair, and one for each judge's controls."""
    if run.judging is None or suite is None:
        return 0
    pairs = suite.pairs * len(run.targets) * len(run.scaffolds) * run.repeats
    return pairs + len({judge.lane for judge in run.judging.judges or run.targets})


def has_groups(suite: Suite | None) -> bool:
    """Return whether there is anything to compare: some probe names a group."""
    return suite is not None and any(probe.groups for probe in suite.probes)


def state_of(
    *, closed_by: ClosedBy | None, complete: bool, diagnosed: bool, judged: bool = True
) -> RunState:
    """Return a run's state from what closed it, whether all arrived, and what came of it."""
    if closed_by is None:
        return RunState.RUNNING
    if not diagnosed:
        return RunState.DIAGNOSING
    if closed_by is ClosedBy.CANCELLATION and not complete:
        return RunState.CANCELLED
    if not judged:
        return RunState.JUDGING
    return RunState.COMPLETE if complete else RunState.INCOMPLETE


class Interpretation(BaseModel):
    """A requested interpretation, and its evaluation."""

    brief_id: str
    evaluation: Evaluation | None = None
    """Null while it is under way."""
