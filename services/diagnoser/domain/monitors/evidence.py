"""The records a closed round leaves: itself in its epoch, its increments, and their sums, read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.diagnoser.domain.monitors.change_detection import next_change, reference_of
from services.diagnoser.domain.monitors.method import BoundedEvidence, method_of
from services.diagnoser.domain.monitors.methods.pairs import SELECTIONS
from services.diagnoser.domain.monitors.round_answers import Counts, RoundData, summed
from shared.contracts import (
    Change,
    Comparison,
    Completion,
    Estimate,
    Evidence,
    Increment,
    Monitor,
    MonitorPlan,
    Round,
    Run,
    Verdict,
)
from shared.stats.anytime.four_fifths import SelectionPairs
from shared.stats.anytime.judging import judge


def models_of(reported: Iterable[tuple[str | None, str | None]]) -> tuple[str, ...]:
    """Return what answered, by the names and fingerprints it gave; nothing where it gave none."""
    named = {" ".join(filter(None, each)) for each in reported}
    return tuple(sorted(named - {""}))


def closed_round(
    run: Run,
    monitor: Monitor,
    completion: Completion,
    models: Sequence[str],
    before: Round | None,
    at: datetime,
) -> Round:
    """Return the record of a closed round; it begins an epoch where something was exchanged."""
    instruments = tuple(sorted(f"{pin.name}@{pin.version}" for pin in run.extractors))
    changed = _changed(instruments, models, before)
    if before is None:
        epoch, began_with = 0, 0
    elif changed:
        epoch, began_with = before.epoch + 1, run.round or 0
    else:
        epoch, began_with = before.epoch, before.began_with
    known = () if changed or before is None else before.models
    return Round(
        tenant=run.tenant,
        purpose=run.purpose,
        at=at,
        monitor_id=monitor.monitor_id,
        monitor=monitor.name,
        round=run.round or 0,
        run_id=run.id,
        epoch=epoch,
        began_with=began_with,
        instruments=instruments,
        models=tuple(sorted({*known, *models})),
        changed=changed,
        closed_by=completion.closed_by,
        expected=completion.expected,
        arrived=completion.arrived,
    )


def _changed(
    instruments: Sequence[str], models: Sequence[str], before: Round | None
) -> tuple[str, ...]:
    if before is None:
        return ()
    new = sorted(set(models) - set(before.models)) if before.models else []
    found = [f"the model now calls itself {name}" for name in new]
    measured = sorted(set(instruments) - set(before.instruments))
    return (*found, *(f"it is now measured by {name}" for name in measured))


CARRIED = {"tenant", "purpose", "at", "monitor_id", "run_id", "epoch", "round"}
"""What the records of a round have from the round."""


def increment_of(closed: Round, comparison: Comparison, seen: RoundData) -> Increment:
    """Return what a closed round adds to one comparison."""
    counted = seen.counted[comparison.key]
    return Increment(
        **closed.model_dump(include=CARRIED),
        comparison=comparison,
        counts=counted.counts,
        missing=counted.missing,
        outside=seen.outside[comparison.key],
    )


def evidence_of(
    increment: Increment, last: Mapping[str, Evidence], closed: Round, monitor: Monitor
) -> Evidence:
    """Return the sum of an epoch up to this round, and what it allows to say."""
    plan, comparison = monitor.plan, increment.comparison
    latest = last.get(comparison.key)
    same = latest if latest is not None and latest.epoch == closed.epoch else None
    counts = summed(same.counts, increment.counts) if same else increment.counts
    found = summary_of(comparison, counts, plan, same.log_supremum if same else 0.0)
    rounds = (same.rounds if same else 0) + 1
    return Evidence(
        **increment.model_dump(include=CARRIED),
        comparison=comparison,
        rounds=rounds,
        counts=counts,
        missing=(same.missing if same else 0) + increment.missing,
        bound=plan.bound,
        change=_change(same, increment, counts, monitor, rounds),
        level_change=_change(same, increment, counts, monitor, rounds, level=True),
        before=same.before if same else (latest.gap if latest else None),
        **vars(found),
    )


def _change(
    same: Evidence | None,
    increment: Increment,
    counts: dict[str, tuple[int, ...]],
    monitor: Monitor,
    rounds: int,
    *,
    level: bool = False,
) -> Change | None:
    if rounds == monitor.plan.reference_rounds:
        return reference_of(counts, monitor.plan, level=level)
    last = None if same is None else same.level_change if level else same.change
    return None if last is None else next_change(last, increment.counts, level=level)


INTERVAL = "confidence sequence, valid at every look"


@dataclass(frozen=True)
class EvidenceSummary:
    """What the evidence says now."""

    units: int
    gap: Estimate
    log_e: float
    log_supremum: float
    verdict: Verdict
    reason: str
    more_units: int | None
    expected_verdict: Verdict | None
    no_forecast: str | None
    impact_ratio: Estimate | None


def summary_of(
    comparison: Comparison, counts: Counts, plan: MonitorPlan, log_supremum: float
) -> EvidenceSummary:
    """Read the evidence of one comparison, a member of the monitor's family."""
    watched = comparison.watched
    state, span = method_of(watched.method).evidence(counts), span_of(comparison)
    alpha, family = plan.alpha / 2, len(plan.watched)
    allowed = watched.tolerance / span
    found = judge(state, tolerance=allowed, alpha=alpha, family=family, log_supremum=log_supremum)
    expected = found.forecast.decision
    return EvidenceSummary(
        units=state.units,
        gap=gap_of(comparison, state, alpha / family),
        log_e=found.log_e,
        log_supremum=found.log_supremum,
        verdict=Verdict(found.conclusion.verdict),
        reason=found.conclusion.reason,
        more_units=found.forecast.more_units,
        expected_verdict=None if expected is None else Verdict(expected),
        no_forecast=found.forecast.reason,
        impact_ratio=_impact_ratio(counts, alpha / family),
    )


def span_of(comparison: Comparison) -> float:
    """Return what a gap of 1 is in the feature's units; log odds are their own."""
    watched = comparison.watched
    return 1.0 if watched.method.of_selections else watched.high - watched.low


def gap_of(comparison: Comparison, state: BoundedEvidence, alpha: float) -> Estimate:
    """Return the gap with its interval; None is no bound."""
    found, span = (state.estimate, *state.interval(alpha)), span_of(comparison)
    value, low, high = (None if each is None else each * span for each in found)
    why = "the odds ratio is infinite or 0 so far" if state.units else "there are no units yet"
    reason = why if value is None else None
    return Estimate(value=value, low=low, high=high, method=INTERVAL, reason=reason)


def _impact_ratio(counts: Counts, alpha: float) -> Estimate | None:
    if SELECTIONS not in counts:
        return None
    pairs = SelectionPairs(*counts[SELECTIONS])
    if pairs.ratio is None:
        return Estimate(reason="nobody of the second group was selected", method=INTERVAL)
    low, high = pairs.interval(alpha)
    return Estimate(value=pairs.ratio, low=low, high=high, method=INTERVAL)
