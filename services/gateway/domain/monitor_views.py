"""How monitors stand, and what is shown of them."""

from datetime import datetime

from pydantic import BaseModel

from shared.contracts import Alarm, Claim, Description, Estimate, Evidence, Monitor, Verdict


class Applied(BaseModel):
    """What applying a file has done."""

    monitor: Monitor
    changed: bool
    """Whether anything was asked for that was not so before."""
    anew: bool
    """Whether another plan makes it begin with no evidence."""


class MonitorStand(BaseModel):
    """How a monitor stands."""

    name: str
    monitor_id: str
    state: str
    """active, paused, deleted or ended."""
    ended: str | None = None
    """Why there will be no more rounds."""
    suite: str | None
    """What is asked; None where traffic is watched."""
    target: str
    claim: Claim
    rounds: int
    epoch: int | None = None
    last_round_at: datetime | None = None
    next_round_at: datetime | None = None
    comparisons: int
    verdicts: dict[Verdict, int] = {}
    alarms: int
    flagged: int = 0
    """Comparisons that stand out over the whole deployment now (e-BH)."""
    since: datetime


class Shown(BaseModel):
    """One comparison's evidence as it is shown: without its counts."""

    comparison: str
    number: str
    """What is measured, and by what: numbers of one name share a range."""
    rounds: int
    units: int
    missing: int
    tolerance: float
    gap: Estimate
    log_e: float
    log_supremum: float
    bound: float
    verdict: Verdict
    reason: str
    more_units: int | None
    expected_verdict: Verdict | None
    no_forecast: str | None
    impact_ratio: Estimate | None
    change_log_evidence: float | None
    level_log_evidence: float | None
    before: Estimate | None
    stands_out: bool
    """Whether it is flagged now among the monitor's comparisons (e-BH)."""


def shown(evidence: Evidence, *, stands_out: bool) -> Shown:
    """Return what is shown of one comparison."""
    names = Shown.model_fields.keys() & Evidence.model_fields.keys()
    return Shown(
        comparison=evidence.comparison_key,
        number=f"{evidence.comparison.watched.extractor}.{evidence.comparison.watched.feature}",
        tolerance=evidence.comparison.watched.tolerance,
        change_log_evidence=evidence.change.log_evidence if evidence.change else None,
        level_log_evidence=evidence.level_change.log_evidence if evidence.level_change else None,
        stands_out=stands_out,
        **{name: getattr(evidence, name) for name in names - {"comparison", "number"}},
    )


class Said(BaseModel):
    """One answer of a twin, side by side with the other's."""

    response_id: str
    group: str | None
    asked: str | None
    """What was said to the model; null where it was purged."""
    answered: str | None
    """What it said; null where it said nothing, or that was purged."""


class ShownTwins(BaseModel):
    """A set that contributed much."""

    set_id: str
    gap: float
    a: list[Said]
    b: list[Said]


class ShownAlarm(BaseModel):
    """An alarm with its evidence."""

    alarm: Alarm
    twins: list[ShownTwins]


class MonitorView(BaseModel):
    """All that is shown of a monitor."""

    stand: MonitorStand
    evidence: list[Shown]
    alarms: list[Alarm]
    window: Description | None = None
    """What the last window of traffic looked like."""
