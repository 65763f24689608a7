"""What the operator reads of the gateway's replies; fields that it does not need are left out."""

from datetime import datetime

from pydantic import BaseModel

from biaswatch.shared.contracts import (
    LEAST_MEASURED_SHARE,
    Alarm,
    ComparedGroups,
    Estimate,
    Verdict,
)


class SeenStatus(BaseModel):
    """A monitor in one line."""

    monitor_id: str
    state: str
    """active, paused or ended."""
    ended: str | None = None
    rounds: int
    last_round_at: datetime | None = None
    next_round_at: datetime | None = None
    since: datetime


class SeenEvidence(BaseModel):
    """The evidence of one comparison."""

    comparison: str
    title: str = ""
    gap: Estimate
    verdict: Verdict
    log_supremum: float
    bound: float

    @property
    def share(self) -> float:
        """How far the evidence has come, as a share of what an alarm needs."""
        return self.log_supremum / self.bound if self.bound else 0.0


class SeenMonitor(BaseModel):
    """A monitor that the gateway has."""

    stand: SeenStatus
    evidence: list[SeenEvidence] = []
    alarms: list[Alarm] = []
    """Raised and cleared."""


class MonitorApplied(BaseModel):
    """What applying a monitor has changed."""

    changed: bool
    anew: bool
    notes: list[str] = []


class SeenSuite(BaseModel):
    """A suite that the gateway has."""

    hash: str
    name: str
    probes: int
    purged: bool = False


class KeptSuite(BaseModel):
    """A suite that was uploaded."""

    hash: str


class RunIdentity(BaseModel):
    """The id of a run."""

    id: str


class AcceptedRun(BaseModel):
    """A run that was asked for."""

    run: RunIdentity


class SeenRun(BaseModel):
    """How far a run is."""

    run_id: str
    stand: str
    """running, diagnosing, judging, complete, incomplete or cancelled."""
    stopped_by: str | None = None
    probes: int
    responses: int


class SeenGap(BaseModel):
    """One group compared with another."""

    a: str
    b: str
    gap: Estimate
    p_adjusted: float | None = None
    verdict: Verdict
    survives_missing: bool | None = None


class SeenGroup(BaseModel):
    """How many answers about a group gave a number."""

    group: str
    responses: int
    missing: int
    missing_reasons: dict[str, int] = {}


class SeenDiagnosis(BaseModel):
    """The findings of one feature of one target."""

    target: str
    feature: str
    dimension: str
    groups: list[SeenGroup] = []
    gaps: list[SeenGap] = []

    def is_measured(self, gap: SeenGap) -> bool:
        """Return whether enough answers about both sides of a gap gave a number."""
        sides = ComparedGroups(self.groups).sides(gap.a, gap.b)
        return all(side.is_enough(LEAST_MEASURED_SHARE) for side in sides)


class FoundDiagnoses(BaseModel):
    """The findings of a run."""

    found: list[SeenDiagnosis]
