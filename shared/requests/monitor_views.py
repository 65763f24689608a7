"""Monitors in responses: state, evidence, history and alarms."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict

from biaswatch.shared.contracts import (
    Alarm,
    AnswerAccounts,
    Claim,
    Estimate,
    Evidence,
    Monitor,
    Response,
    RunningGap,
    Verdict,
)
from biaswatch.shared.contracts.alarm import AlarmDelivery
from biaswatch.shared.requests.evidence import EvidenceView, WindowView


class LabelledEvidence(BaseModel):
    """What labels say of one comparison, over all labelled rounds of an epoch."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    comparison: str
    title: str
    """What is compared, for people."""
    number: str
    """The extractor and its feature."""
    a: str
    b: str
    gap: RunningGap
    """First group less second, as labels correct what the instrument reads."""
    epoch: int
    round: int
    """The last labelled round."""
    run_id: str
    """The run of that round."""
    labelled_until: AwareDatetime
    """When the last label came that it rests on."""
    alarmed: bool
    """Whether an alarm by labels stands."""


def labelled_sentence_of(found: LabelledEvidence) -> str:
    """Return what labels say of one comparison, beside what alarms."""
    gap = found.gap
    rounds = f"{gap.rounds} labelled round{'' if gap.rounds == 1 else 's'}"
    said = f"{2 * gap.pairs:,} labelled answers of {rounds}"
    needed = "" if gap.bound is None else f" of the {gap.bound:.2f} that alarm"
    told = f"evidence {gap.log_e:.2f}{needed}, {said}"
    if gap.since_round:
        told += f", since round {gap.since_round}, when an alarm by labels was over"
    return f"{told}; no alarm is raised: {gap.no_alarm}" if gap.no_alarm else told


def labelled_promise_in_words(alpha: float) -> str:
    """Return what alarms by labels promise, beside those by readings."""
    return (
        "Alarms by labels are about what the model says, where the labels are right; those by"
        " readings about what the instrument reads. The probability of any false alarm by labels,"
        f" ever, is at most {alpha:g}, beside that of those by readings"
    )


class AppliedMonitor(BaseModel):
    """What applying a monitor's file has changed."""

    monitor: Monitor
    changed: bool
    """Whether anything differs from before."""
    anew: bool
    """Whether it starts with no evidence, because its plan is another."""
    notes: list[str] = []
    """What it can find, and what to consider, in sentences."""


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
    alpha: float
    """The probability of any false alarm of this monitor, ever; those of monitors add up."""
    share_left: float | None = None
    """The least share of it, over the comparisons, that is left for later tests; null before the
    first round."""
    since: datetime
    history_of: str | None = None
    """The monitor whose past it reads: its evidence was declared after the data."""


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
    """An alarm with the answers behind it, and who was told of it."""

    alarm: Alarm
    twins: list[TwinsView]
    deliveries: list[AlarmDelivery] = []
    """What became of it on its way to each channel."""


class MonitorView(BaseModel):
    """Everything the API shows of a monitor."""

    stand: MonitorStatus
    evidence: list[EvidenceView]
    alarms: list[Alarm]
    labelled: list[LabelledEvidence] = []
    """What labels of people say of the comparisons, beside the evidence by readings."""
    accounts: AnswerAccounts | None = None
    """What became of every answer that was sent in for it; null where no traffic is watched."""
    window: WindowView | None = None
    """The last window of traffic that was read."""


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
    test: int | None = None
    """Which test of the comparison the round belongs to."""


class History(BaseModel):
    """One comparison over the rounds of a monitor; evidence starts again with every epoch."""

    comparison: str
    tolerance: float
    moments: list[HistoryPoint]


def _moment(evidence: Evidence) -> HistoryPoint:
    names = HistoryPoint.model_fields.keys() - {"test"}
    test = evidence.test.number if evidence.test else None
    return HistoryPoint(**{name: getattr(evidence, name) for name in names}, test=test)


MOMENT_FIELDS = frozenset(HistoryPoint.model_fields)
"""Of evidence."""


def history_from(comparison: str, tolerance: float, fields: Iterable[dict[str, Any]]) -> History:
    """Return a history from fields of evidence as they are kept."""
    moments = [
        HistoryPoint.model_validate({**each, "test": (each.get("test") or {}).get("number")})
        for each in fields
    ]
    in_order = sorted(moments, key=lambda point: point.round)
    return History(comparison=comparison, tolerance=tolerance, moments=in_order)


def rounds_shown(comparisons: int) -> int:
    """Return how many rounds are shown at once."""
    return max(2, MAX_EVIDENCE // comparisons)


def histories_of(evidence: Iterable[Evidence]) -> list[History]:
    """Return a history for each comparison, those with the most evidence first."""
    found: dict[str, list[Evidence]] = defaultdict(list)
    for each in sorted(evidence, key=lambda record: record.round):
        found[each.comparison_key].append(each)
    histories = [
        History(
            comparison=key,
            tolerance=each[-1].comparison.watched.tolerance,
            moments=[_moment(one) for one in each],
        )
        for key, each in found.items()
    ]
    # By the largest evidence of the test so far, as a share of what an alarm needs.
    last = {each.comparison: each.moments[-1] for each in histories}
    shares = {name: point.log_supremum / point.bound for name, point in last.items()}
    return sorted(histories, key=lambda each: (-shares[each.comparison], each.comparison))
