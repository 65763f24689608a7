"""Simulated monitors, decided round by round by the very functions that the diagnoser calls."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.analysis.monitors.alarms import alarms
from biaswatch.shared.analysis.monitors.evidence import closed_round, evidence_of, increments_of
from biaswatch.shared.analysis.monitors.pair_counts import GAPS, LEVEL
from biaswatch.shared.analysis.monitors.round_answers import Counts, RoundCounts
from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    AlarmState,
    ClosedBy,
    Completion,
    Evidence,
    Monitor,
    Round,
    WatchedFeature,
    WatchedPair,
)
from tests.support.monitored import round_run
from tests.support.pair_histogram import PairHistogram
from tests.support.records import AT, make_monitor, make_plan

Floats = NDArray[np.float64]


def watching(tolerance: float = 0.05, **fields: object) -> Monitor:
    """Make a monitor of one feature from 0 to 1; missing answers are its second comparison."""
    watched = WatchedFeature(extractor="rating", feature="rating", tolerance=tolerance)
    pair = WatchedPair(dimension="side", a="a", b="b")
    return make_monitor(plan=make_plan(features=(watched,), comparisons=(pair,), **fields))


def of_pairs(gaps: Floats, levels: Floats, rng: np.random.Generator) -> Counts:
    """Count the gaps of a round's twins, and their levels from -1 to 1."""
    return {
        GAPS: PairHistogram.of(np.clip(gaps, -1, 1), rng.random(len(gaps))).counts,
        LEVEL: PairHistogram.of(np.clip(levels, -1, 1), rng.random(len(levels))).counts,
    }


@dataclass
class DecidedRounds:
    """The rounds of a monitor so far, and what they have said of its first comparison."""

    monitor: Monitor
    evidence: list[Evidence] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)

    def close(self, counts: Counts, *, model: str = "m-1") -> Evidence:
        """Close a round with these counts; another model begins an epoch."""
        comparison = self.monitor.plan.all_comparisons[0]
        run = round_run(self.monitor, len(self.rounds))
        ended = Completion(
            at=AT, run_id=run.id, stage="features", closed_by=ClosedBy.ARRIVAL, expected=1,
            arrived=1,
        )  # fmt: skip
        before = self.rounds[-1] if self.rounds else None
        closed = closed_round(run, self.monitor, ended, (model,), before, AT)
        counted = {comparison.key: RoundCounts(counts, 0)}
        [result] = evidence_of(
            increments_of(closed, [comparison], counted),
            self.evidence[-1:],
            closed,
            self.monitor,
            lambda round_, _: self.evidence[round_].counts,
        )
        self.alarms += alarms(self.monitor, closed, [result], {}, self.alarms, self._began_at)
        self.evidence.append(result)
        self.rounds.append(closed)
        return result

    def _began_at(self, round_: int) -> datetime:
        return AT + timedelta(hours=round_)

    def told(self, what: AlarmKind, state: AlarmState = AlarmState.RAISED) -> list[int]:
        """Return the rounds that raised, or cleared, an alarm of this kind."""
        return [alarm.round for alarm in self.alarms if (alarm.what, alarm.state) == (what, state)]
