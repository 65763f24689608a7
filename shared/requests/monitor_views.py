"""Monitors in responses: state, evidence, history and alarms."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pydantic import AliasPath, AwareDatetime, BaseModel, ConfigDict, Field

from biaswatch.shared.contracts import (
    Alarm,
    AnswerAccounts,
    Claim,
    Estimate,
    Evidence,
    MergedEvidence,
    Monitor,
    Response,
    RunningGap,
    Verdict,
)
from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery
from biaswatch.shared.formatting import number
from biaswatch.shared.lookup import grouped
from biaswatch.shared.requests.evidence import EvidenceView, WindowView
from biaswatch.shared.stats.estimate import SummaryWord


class LabelledEvidence(BaseModel):
    """One comparison as labels correct it, over all labelled rounds of an epoch."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    comparison: str
    title: str
    """Title of the comparison."""
    number: str
    """The extractor and its feature."""
    a: str
    b: str
    gap: RunningGap
    """Corrected difference of the groups, first minus second."""
    epoch: int
    round: int
    """The last labelled round."""
    run_id: str
    """The run of that round."""
    labelled_until: AwareDatetime
    """Time of its last label."""
    alarmed: bool
    """True if an alarm by labels is raised."""


def labelled_sentence_of(labelled: LabelledEvidence) -> str:
    """Return the evidence of one comparison by labels in a sentence."""
    gap = labelled.gap
    rounds = f"{gap.rounds} labelled round{'' if gap.rounds == 1 else 's'}"
    needed = "" if gap.bound is None else f" of the {gap.bound:.2f} that alarm"
    sentence = f"evidence {gap.log_e:.2f}{needed}, {2 * gap.pairs:,} labelled answers of {rounds}"
    if gap.since_round:
        sentence += f", since round {gap.since_round}, when an alarm by labels was over"
    return f"{sentence}; no alarm is raised: {gap.no_alarm}" if gap.no_alarm else sentence


def anywhere_in_words(merged: MergedEvidence, titles: Mapping[str, str]) -> str:
    """Return whether twins are treated differently anywhere, and which comparisons stand out."""
    evidence = f"(evidence {number(merged.log_e)}, {number(merged.bound)} needed)"
    if merged.since_round is None:
        return f"All comparisons together: different treatment of twins is not shown {evidence}."
    sentence = (
        "All comparisons together: somewhere twins are treated differently, shown in round"
        f" {merged.since_round} {evidence}, about these names and texts."
    )
    if not merged.stands_out:
        return f"{sentence} No single comparison stands out."
    names = ", ".join(titles.get(key, key) for key in merged.stands_out)
    return f"{sentence} What stands out: {names}."


def labelled_promise_in_words(alpha: float) -> str:
    """Return the guarantee of alarms by labels, compared with alarms by measurements."""
    return (
        "Alarms by labels are about what the model says, where the labels are right; those by"
        " readings about what the instrument reads. The probability of any false alarm by labels,"
        f" ever, is at most {alpha:g}, beside that of those by readings"
    )


class AppliedMonitor(BaseModel):
    """The effect of applying a monitor's file."""

    monitor: Monitor
    changed: bool
    """True if the definition changed."""
    anew: bool
    """True if it starts without evidence, because its plan is new."""
    notes: list[str] = []
    """Detectable effects and advice, in sentences."""


class LeadingGap(BaseModel):
    """The comparison of a monitor that matters most: a raised alarm, or the strongest evidence."""

    comparison: str
    title: str
    number: str
    """The extractor and its feature."""
    gap: Estimate
    """First group minus second, with its confidence sequence."""
    tolerance: float


class MonitorStatus(BaseModel):
    """A monitor in one line: target, state, rounds, verdicts and alarms."""

    name: str
    monitor_id: str
    state: str
    """active, paused, deleted or ended."""
    ended: str | None = None
    """The reason why it has ended."""
    suite: str | None
    """The suite; null for a monitor of traffic."""
    target: str
    claim: Claim
    rounds: int
    epoch: int | None = None
    last_round_at: datetime | None = None
    next_round_at: datetime | None = None
    comparisons: int
    verdicts: dict[Verdict, int] = {}
    alarms: int
    word: SummaryWord = SummaryWord.INCONCLUSIVE
    """The one word for the monitor: a disparity or a raised alarm, no disparity in all, otherwise
    inconclusive."""
    undetected: dict[str, float | None] = {}
    """The largest gap that an inconclusive comparison leaves possible, by feature; null where it
    may have any size."""
    leading: LeadingGap | None = None
    """The comparison that matters most; null before any gap is measured."""
    flagged: int = 0
    """Comparisons that are flagged over the whole deployment (e-BH)."""
    alpha: float
    """The probability of any false alarm of this monitor, ever; over monitors they add up."""
    share_left: float | None = None
    """The smallest share of alpha that is left for later tests, over the comparisons; null before
    the first round."""
    merged: MergedEvidence | None = None
    """Whether twins are treated differently anywhere; null with fewer than two comparisons."""
    since: datetime
    history_of: str | None = None
    """The monitor whose past it reads, declared after the data."""


class TwinAnswer(BaseModel):
    """One answer to a prompt of a set of twins."""

    response_id: str
    unit: str | None = None
    """The user or conversation of traffic, or the prompt of a suite; null without its answer."""
    group: str | None
    asked: str | None
    """The question; null if it was purged."""
    answered: str | None
    """The answer; null if it is missing or was purged."""


def twin_answer(response: Response, dimension: str) -> TwinAnswer:
    """Return the view of an answer, with its group in the compared dimension."""
    return TwinAnswer(
        response_id=response.id,
        unit=None if response.text is None else response.unit,  # users only beside their texts
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
    """An alarm with the answers behind it, and its deliveries."""

    alarm: Alarm
    twins: list[TwinsView]
    deliveries: list[AlarmDelivery] = []
    """Its delivery to each channel."""


class MonitorView(BaseModel):
    """Everything the API shows of a monitor."""

    status: MonitorStatus
    evidence: list[EvidenceView]
    alarms: list[Alarm]
    labelled: list[LabelledEvidence] = []
    """The comparisons as labels correct them."""
    accounts: AnswerAccounts | None = None
    """Accounts of all answers sent for it; null without traffic."""
    window: WindowView | None = None
    """The last window of traffic that was read."""


MAX_EVIDENCE = 6000
"""Points of all histories in one response."""


class HistoryPoint(BaseModel):
    """The evidence at the end of a round."""

    model_config = ConfigDict(from_attributes=True, validate_by_name=True, validate_by_alias=True)

    round: int
    epoch: int
    at: datetime
    units: int
    gap: Estimate
    log_e: float
    log_supremum: float
    bound: float
    verdict: Verdict
    same_treatment: str | None = None
    log_e_same_treatment: float | None = None
    group_effect: str | None = None
    log_e_effect: float | None = Field(None, validation_alias=AliasPath("clusters", "log_e_effect"))
    """The log evidence of a group effect, which needs the same bound."""
    test: int | None = Field(None, validation_alias=AliasPath("test", "number"))
    """Number of the test that the round belongs to."""


class History(BaseModel):
    """One comparison over the rounds of a monitor; evidence starts again with every epoch."""

    comparison: str
    tolerance: float
    moments: list[HistoryPoint]


MOMENT_FIELDS = frozenset(HistoryPoint.model_fields) & Evidence.model_fields.keys() | {"clusters"}
"""Fields of evidence in a history."""


def history_from(comparison: str, tolerance: float, fields: Iterable[dict[str, Any]]) -> History:
    """Return a history from stored fields of evidence."""
    moments = sorted(map(HistoryPoint.model_validate, fields), key=lambda point: point.round)
    return History(comparison=comparison, tolerance=tolerance, moments=moments)


def rounds_shown(comparisons: int) -> int:
    """Return the number of rounds in one response."""
    return max(2, MAX_EVIDENCE // comparisons)


def histories_of(evidence: Iterable[Evidence]) -> list[History]:
    """Return a history for each comparison, those with the most evidence first."""
    by_comparison = grouped(
        (record.comparison_key, record)
        for record in sorted(evidence, key=lambda record: record.round)
    )
    histories = [
        History(
            comparison=key,
            tolerance=records[-1].comparison.watched.tolerance,
            moments=[HistoryPoint.model_validate(record) for record in records],
        )
        for key, records in by_comparison.items()
    ]

    def rank(history: History) -> tuple[float, str]:
        last = history.moments[-1]
        return -last.log_supremum / last.bound, history.comparison

    return sorted(histories, key=rank)
