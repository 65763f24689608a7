"""Alarms by labels of people: which one a labelled round raises, and which it clears."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from biaswatch.shared.analysis.labels.running_gaps import (
    Bounds,
    Counts,
    LabelledTest,
    is_over,
    labelled_promise,
    why_no_alarm,
)
from biaswatch.shared.analysis.monitors.alarm_words import (
    AlarmedGap,
    cleared_sentence,
    labelled_sentence,
)
from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    AlarmState,
    Comparison,
    Estimate,
    Monitor,
    Round,
    RunningGap,
    Verdict,
    comparison_titles,
)
from biaswatch.shared.formatting import number

AFTER_DATA = (
    "Nothing is promised about false alarms: what is watched was declared when the answers were"
    " known already"
)


def labelled_alarm(
    monitor: Monitor,
    rounds: Mapping[int, Round],
    comparison: Comparison,
    counts: Mapping[int, Counts],
    bounds: Bounds,
    test: LabelledTest,
    running: RunningGap,
    history: Collection[Alarm],
    now: datetime,
) -> Alarm | None:
    """Return the alarm that labels raise or clear of one comparison; None where nothing changes.

    `rounds` and `counts` are those of the labelled rounds of the epoch, by their numbers; `found`
    is what they show in the test under way. Who computes it again from the same labels makes the
    same alarm, which the store keeps once.
    """
    if why_no_alarm(monitor.plan) is not None or not counts:
        return None
    last = rounds[max(counts)]
    if test.alarm is None:
        if running.verdict is not Verdict.DISPARITY:
            return None
        return _raised(monitor, last, comparison, test, running, history, now)
    over = is_over(counts, comparison, bounds, test)
    return None if over is None else _cleared(monitor, last, comparison, test, *over, now)


def _raised(
    monitor: Monitor,
    last: Round,
    comparison: Comparison,
    test: LabelledTest,
    running: RunningGap,
    history: Collection[Alarm],
    now: datetime,
) -> Alarm:
    occasion = sum(
        alarm.state is AlarmState.RAISED
        for alarm in history
        if (alarm.comparison_key, alarm.what, alarm.epoch)
        == (comparison.key, AlarmKind.LABELLED, last.epoch)
    )
    gap = _estimate(running)
    shown = AlarmedGap(gap, None, running.pairs, running.rounds, None)
    promised = labelled_promise(monitor.plan, test.number)
    return Alarm(
        **_about(monitor, last, comparison, now),
        state=AlarmState.RAISED,
        occasion=occasion,
        since_round=running.since_round,
        test=test.number,
        reason=(
            f"labels of {2 * running.pairs:,} answers show a gap beyond the tolerance of"
            f" {number(comparison.watched.tolerance)}: the logarithm of the evidence reached"
            f" {running.log_e:.2f} of the {test.bound:.2f} needed"
        ),
        words=labelled_sentence(comparison, shown, monitor.plan.numbers),
        promise=AFTER_DATA if last.declared_after_data else promised,
        gap=gap,
        log_evidence=running.log_e,
    )


def _cleared(
    monitor: Monitor,
    last: Round,
    comparison: Comparison,
    test: LabelledTest,
    running: RunningGap,
    limit: float,
    now: datetime,
) -> Alarm:
    ends = f"({number(running.low)} to {number(running.high)})"
    within = f"between -{number(limit)} and {number(limit)}"
    reason = (
        f"labels of {2 * running.pairs:,} answers show that the gap lies {within} again: since"
        f" round {running.since_round} it is {number(running.value)} {ends}"
    )
    return Alarm(
        **_about(monitor, last, comparison, now),
        state=AlarmState.CLEARED,
        occasion=test.alarm.occasion if test.alarm else 0,
        test=test.number,
        reason=reason,
        words=cleared_sentence(comparison, reason, monitor.plan.numbers),
        gap=_estimate(running),
        log_evidence=running.log_e,
    )


def _about(monitor: Monitor, last: Round, comparison: Comparison, now: datetime) -> dict[str, Any]:
    return {
        "tenant": last.tenant,
        "purpose": last.purpose,
        "at": now,
        "monitor_id": last.monitor_id,
        "monitor": monitor.name,
        "epoch": last.epoch,
        "round": last.round,
        "run_id": last.run_id,
        "comparison_key": comparison.key,
        "title": comparison_titles(monitor.plan)[comparison.key],
        "what": AlarmKind.LABELLED,
        "owners": monitor.upkeep.owners,
        "webhook": monitor.upkeep.webhook,
        "channels": monitor.upkeep.channels,
        "declared_after_data": last.declared_after_data,
    }


def _estimate(running: RunningGap) -> Estimate:
    return Estimate(running.value, running.low, running.high, running.method, running.reason)
