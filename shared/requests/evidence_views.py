"""The evidence of a comparison as the API shows it: numbers, what clears alarms, what is found."""

from collections.abc import Collection

from pydantic import BaseModel

from biaswatch.shared.contracts import (
    Change,
    Comparison,
    Estimate,
    Evidence,
    Recovery,
    UserCounts,
    Verdict,
    comparison_title,
)
from biaswatch.shared.requests.evidence_words import adjustment_words, selection_words

SAID = {"comparison", "title", "number", "test"}
"""What a view says in its own way."""


class StandingAlarm(BaseModel):
    """What clears an alarm of a disparity, and how far that has come."""

    round: int
    """The round that raised it."""
    limit: float
    """The gap must be shown to lie within it."""
    since_round: int
    """The first of the rounds in which it is looked for."""
    gap: Estimate
    """The gap in them."""


class EvidenceView(BaseModel):
    """The evidence of one comparison, without its counts."""

    comparison: str
    title: str = ""
    """What is compared, for people."""
    number: str
    """The extractor and its feature; those of one name share a range."""
    rounds: int
    since_round: int | None
    """The first of the rounds that units and gap are about; null in evidence of version 0.1."""
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
    selections: str | None
    """The units selected of either group, and the ratio of both rates, in words."""
    users: UserCounts | None
    """Of traffic: how many users were compared with neighbours, and how many found none."""
    unadjusted: Estimate | None
    """Of traffic: the gap between all users, of any moment and stratum; no evidence."""
    adjustment: str | None
    """Both in words."""
    test: int | None
    """Which test of the comparison this is: each epoch and each cleared alarm begins another."""
    share_left: float | None
    """The share of alpha that is left for later tests, or searches for changes."""
    standing: StandingAlarm | None
    """What clears the alarm of a disparity that stands."""
    change_log_evidence: float | None
    level_log_evidence: float | None
    smallest_change: Estimate
    """The smallest change of the gap that would be found by now, in the feature's units, or as a
    share of what is selected; or why there is none."""
    smallest_level_change: Estimate
    """The same for the mean of both groups."""
    before: Estimate | None
    declared_after_data: bool
    """Whether it was declared when the answers were known already: no promise then holds."""
    change_searched: bool
    """Whether changes are searched: not in traffic, where later windows are of other users."""
    stands_out: bool
    """Whether it is flagged now among the monitor's comparisons (e-BH)."""


def evidence_view(
    evidence: Evidence, *, stands_out: bool, watched: Collection[tuple[str, str]] = ()
) -> EvidenceView:
    """Return the view of one comparison's evidence; `watched` are the monitor's numbers."""
    names = (EvidenceView.model_fields.keys() & Evidence.model_fields.keys()) - SAID
    return EvidenceView(
        comparison=evidence.comparison_key,
        title=comparison_title(evidence.comparison, watched),
        number=f"{evidence.comparison.watched.extractor}.{evidence.comparison.watched.feature}",
        tolerance=evidence.comparison.watched.tolerance,
        change_log_evidence=evidence.change.log_evidence if evidence.change else None,
        level_log_evidence=evidence.level_change.log_evidence if evidence.level_change else None,
        since_round=evidence.shown.since_round if evidence.shown else None,
        test=evidence.test.number if evidence.test else None,
        share_left=evidence.share_left,
        standing=_standing(evidence.recovery),
        smallest_change=_smallest(evidence.change, evidence.comparison, 1.0),
        # A level is searched by the sum of both groups.
        smallest_level_change=_smallest(evidence.level_change, evidence.comparison, 0.5),
        change_searched=evidence.change is not None,
        stands_out=stands_out,
        selections=selection_words(evidence),
        adjustment=adjustment_words(evidence),
        **{name: getattr(evidence, name) for name in names},
    )


def _standing(recovery: Recovery | None) -> StandingAlarm | None:
    if recovery is None or recovery.over:
        return None
    return StandingAlarm(
        round=recovery.alarm_round,
        limit=recovery.limit,
        since_round=recovery.rounds.since_round,
        gap=recovery.gap,
    )


def _smallest(change: Change | None, comparison: Comparison, part: float) -> Estimate:
    if change is None:
        return Estimate(reason="no changes are searched here")
    if change.smallest is None:
        return Estimate(reason=change.no_smallest or "no round has been searched yet")
    watched = comparison.watched
    span = 1.0 if watched.method.of_selections else watched.high - watched.low
    return Estimate(value=change.smallest * part * span)
