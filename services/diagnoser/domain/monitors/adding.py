"""The records a closed round leaves of each comparison: its increment, and the sum so far."""

from collections.abc import Mapping

from services.diagnoser.domain.monitors.changing import next_change, reference_of
from services.diagnoser.domain.monitors.counting import added
from services.diagnoser.domain.monitors.reading import read
from services.diagnoser.domain.monitors.seen import Seen
from shared.contracts import Change, Comparison, Evidence, Increment, Monitor, Round

CARRIED = {"tenant", "purpose", "at", "monitor_id", "run_id", "epoch", "round"}


def increment_of(closed: Round, comparison: Comparison, seen: Seen) -> Increment:
    """Return what a closed round adds to one comparison."""
    counted = seen.counted[comparison.key]
    return Increment(
        tenant=closed.tenant,
        purpose=closed.purpose,
        at=closed.at,
        monitor_id=closed.monitor_id,
        run_id=closed.run_id,
        epoch=closed.epoch,
        round=closed.round,
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
    counts = added(same.counts, increment.counts) if same else increment.counts
    found = read(comparison, counts, plan, same.log_supremum if same else 0.0)
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
