"""Monitors as the API shows them: their state, evidence, history and alarms."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from pydantic import BaseModel

from shared.contracts import (
    Alarm,
    Claim,
    Description,
    Estimate,
    Evidence,
    Monitor,
    Response,
    Verdict,
)


class AppliedMonitor(BaseModel):
    """What applying a monitor's file has changed."""

    monitor: Monitor
    changed: bool
    """Whether anything differs from before."""
    anew: bool
    """Whether it starts with no evidence, because its plan is another."""


class MonitorStatus(BaseModel):
    """A monitor in one line: what it watches, its state, rounds, verdicts and alarms."""

    name: str
    monitor_id: str
    state: str
    """active, paused, deleted or ended."""
    ended: str | None = None
    """Why there will be no more rounds."""
    suite: str | None
    """The suite that is asked; null where traffic is watched."""
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


class EvidenceView(BaseModel):
    """The evidence of one comparison, without its counts."""

    comparison: str
    number: str
    """The extractor and its feature; those of one name share a range."""
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


def evidence_view(evidence: Evidence, *, stands_out: bool) -> EvidenceView:
    """Return the view of one comparison's evidence."""
    names = EvidenceView.model_fields.keys() & Evidence.model_fields.keys()
    return EvidenceView(
        comparison=evidence.comparison_key,
        number=f"{evidence.comparison.watched.extractor}.{evidence.comparison.watched.feature}",
        tolerance=evidence.comparison.watched.tolerance,
        change_log_evidence=evidence.change.log_evidence if evidence.change else None,
        level_log_evidence=evidence.level_change.log_evidence if evidence.level_change else None,
        stands_out=stands_out,
        **{name: getattr(evidence, name) for name in names - {"comparison", "number"}},
    )


class TwinAnswer(BaseModel):
    """One answer to a prompt of a set of twins."""

    response_id: str
    group: str | None
    asked: str | None
    """What the model was asked; null once purged."""
    answered: str | None
    """What it answered; null without an answer, or once purged."""


def twin_answer(response: Response, dimension: str) -> TwinAnswer:
    """Return the view of an answer, with its group in the dimension that is compared."""
    return TwinAnswer(
        response_id=response.id,
        group=response.probe.groups.get(dimension),
        asked="\n".join(message.content for message in response.probe.messages) or None,
        answered=response.text,
    )


class TwinsView(BaseModel):
    """A set that contributed much to an alarm, with the answers of both sides."""

    set_id: str
    gap: float
    a: list[TwinAnswer]
    b: list[TwinAnswer]


class AlarmView(BaseModel):
    """An alarm with the answers behind it."""

    alarm: Alarm
    twins: list[TwinsView]


class MonitorView(BaseModel):
    """Everything the API shows of a monitor."""

    stand: MonitorStatus
    evidence: list[EvidenceView]
    alarms: list[Alarm]
    window: Description | None = None
    """The description of the last window of traffic."""


MAX_EVIDENCE = 6000
"""How much evidence is returned at once, in all histories together."""


class HistoryPoint(BaseModel):
    """The evidence when a round had closed."""

    round: int
    epoch: int
    at: datetime
    units: int
    gap: Estimate
    log_e: float
    log_supremum: float
    bound: float
    verdict: Verdict


class History(BaseModel):
    """One comparison over the rounds of a monitor; evidence starts again with every epoch."""

    comparison: str
    tolerance: float
    moments: list[HistoryPoint]


def rounds_shown(comparisons: int) -> int:
    """Return how many rounds are shown at once."""
    return max(2, MAX_EVIDENCE // comparisons)


def histories_of(evidence: Iterable[Evidence]) -> list[History]:
    """Return a history for each comparison, those with the most evidence first."""
    found: dict[str, list[Evidence]] = defaultdict(list)
    for each in sorted(evidence, key=lambda record: record.round):
        found[each.comparison_key].append(each)
    names = HistoryPoint.model_fields.keys()
    histories = [
        History(
            comparison=key,
            tolerance=each[-1].comparison.watched.tolerance,
            moments=[HistoryPoint(**{name: getattr(one, name) for name in names}) for one in each],
        )
        for key, each in found.items()
    ]
    # By the largest evidence so far, as a share of what an alarm needs.
    last = {each.comparison: each.moments[-1] for each in histories}
    shares = {name: point.log_supremum / point.bound for name, point in last.items()}
    return sorted(histories, key=lambda each: (-shares[each.comparison], each.comparison))
