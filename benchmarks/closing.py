"""Closing a round of a million comparisons by the diagnoser's code, against closing each alone.

The round before is read from its records; answers become counts, increments, evidence, records.
A part of the comparisons is measured and multiplied: time and bytes grow with their number. The old
way, in the same run: every comparison sorts the answers and takes its interval by itself, and is
two records of JSON, with the same kernels, which have become quicker for both. The bars are the
CPU time of the whole round, and the share of the old way's bytes.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from biaswatch.services.diagnoser.handlers.memory import gc_paused
from biaswatch.shared.analysis.monitors.evidence import evidence_of, increments_of
from biaswatch.shared.analysis.monitors.method import counted
from biaswatch.shared.analysis.monitors.round_answers import (
    Counts,
    PlannedAnswer,
    RoundAnswers,
    RoundScope,
    compared_sets,
)
from biaswatch.shared.contracts import (
    Claim,
    ClosedBy,
    Evidence,
    Increment,
    Monitor,
    MonitorPlan,
    Purpose,
    Round,
    RoundEvidence,
    Target,
    Upkeep,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.contracts.evidence_rows import evidence_rows, round_evidence
from biaswatch.shared.stats.anytime.inversion import invert
from biaswatch.shared.stats.anytime.pair_histograms import STEPS_PER_SE
from tests.support.pair_histogram import PairHistogram

COMPARISONS = 1_000_000
GROUPS, SETS, EXTRACTORS, FEATURES = 21, 60, 4, 4
ROUNDS = 8
"""The last is measured; changes are searched by then."""
OLD_WAY = 60
BAR_S, BAR_BYTES = 180.0, 0.1
"""Of a million comparisons, also where other processes use the same cores; the aim is 60 s."""
AT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Closed:
    """A round as it was closed, and the CPU seconds of each step."""

    increments: Sequence[Increment]
    evidence: Sequence[Evidence]
    records: list[RoundEvidence]
    seconds: dict[str, float]


def monitor() -> Monitor:
    """Make a monitor of 210 pairs of nations; it watches missing answers, too."""
    groups = [f"nation-{n:02}" for n in range(GROUPS)]
    pairs = [
        WatchedPair(dimension="nation", a=a, b=b)
        for place, a in enumerate(groups)
        for b in groups[place + 1 :]
    ]
    features = [
        WatchedFeature(extractor=f"x{n % EXTRACTORS}", feature=f"f{n}", tolerance=0.02)
        for n in range(FEATURES)
    ]
    plan = MonitorPlan(
        suite="nations", suite_hash="a" * 32, features=tuple(features), comparisons=tuple(pairs),
        target=Target(name="simulator:x", provider="simulator", model="x"),
    )  # fmt: skip
    return Monitor(
        purpose=Purpose.MONITOR, at=AT, name="nations", moment_ms=1, since=AT, plan=plan,
        upkeep=Upkeep(cadence_s=3600),
    )  # fmt: skip


def answers(rng: np.random.Generator) -> RoundAnswers:
    """Make a round's answers, with one in a hundred missing."""
    planned = [
        PlannedAnswer(f"set-{s}", f"set-{s}/{g}", {"nation": f"nation-{g:02}"}, f"{s}/{g}")
        for s in range(SETS)
        for g in range(GROUPS)
    ]
    values = {}
    for extractor in range(EXTRACTORS):
        names = [f"f{n}" for n in range(FEATURES) if n % EXTRACTORS == extractor]
        read = rng.beta(2, 3, (len(planned), len(names))).tolist()
        missing = rng.random(len(planned)) < 0.01
        values[f"x{extractor}"] = [
            None if gone else dict(zip(names, row, strict=True))
            for gone, row in zip(missing, read, strict=True)
        ]
    return RoundAnswers(planned, values)


def close(watch: Monitor, number: int, seen: RoundAnswers, before: list[RoundEvidence]) -> Closed:
    """Close a round as the diagnoser does; the records of the round before are read."""
    closed = Round(
        purpose=Purpose.MONITOR, at=AT, monitor_id=watch.monitor_id, monitor=watch.name,
        round=number, run_id=f"{number:032x}", closed_by=ClosedBy.ARRIVAL, expected=1, arrived=1,
    )  # fmt: skip
    marks = [time.process_time()]
    last = evidence_rows(before)
    marks.append(time.process_time())
    watched = watch.plan.all_comparisons
    counts, _ = counted(watched, seen, RoundScope(Claim.BANK, number))
    increments = increments_of(closed, watched, counts)
    marks.append(time.process_time())
    evidence = evidence_of(increments, last or (), closed, watch, _never_alarmed)
    marks.append(time.process_time())
    records = round_evidence(increments, evidence)
    for record in records:
        record.encode()
    marks.append(time.process_time())
    steps = ("reading", "counting", "evidence", "records")
    return Closed(increments, evidence, records, dict(zip(steps, np.diff(marks), strict=True)))


def _never_alarmed(round_: int, key: str) -> Counts:
    raise ValueError(f"nothing differs here, and still {key} has alarmed since round {round_}")


def old_way_s(watch: Monitor, seen: RoundAnswers, closed: Closed) -> float:
    """Return the CPU seconds a comparison of sorting, an interval and two records, each alone."""
    start = time.process_time()
    for increment, evidence in list(zip(closed.increments, closed.evidence, strict=True))[:OLD_WAY]:
        compared_sets(increment.comparison, seen)
        state = PairHistogram(evidence.counts["counts"])
        step = max(state.standard_error, 1 / state.units) / STEPS_PER_SE
        alpha = watch.plan.alpha / 2 / len(watch.plan.all_comparisons)
        invert(state.log_es, state.estimate or 0.0, step, (-1, 1), alpha)
        for record in (increment, evidence):
            type(record).model_validate_json(record.model_dump_json(exclude_none=True))
    return (time.process_time() - start) / OLD_WAY


def main() -> int:
    """Measure and print; 1 where a bar is missed."""
    watch, rng = monitor(), np.random.default_rng(1)
    closed: Closed | None = None
    seen: RoundAnswers | None = None
    for number in range(ROUNDS):
        seen = answers(rng)
        with gc_paused():
            closed = close(watch, number, seen, closed.records if closed else [])
    assert closed is not None
    assert seen is not None
    here = len(watch.plan.all_comparisons)
    times = COMPARISONS / here
    total = sum(closed.seconds.values()) * times
    old = old_way_s(watch, seen, closed) * COMPARISONS
    alone = sum(
        len(e.model_dump_json(exclude_none=True)) for e in (*closed.increments, *closed.evidence)
    )
    packed = sum(len(record.encode()) for record in closed.records)
    print(f"{COMPARISONS:,} comparisons, from {here:,} measured, {SETS} sets, {GROUPS} groups:")
    for step, seconds in closed.seconds.items():
        print(f"  {step:10}{seconds * times:8.2f} s")
    print(
        f"  together  {total:8.2f} s of CPU (bar: {BAR_S:g}), {old / total:.1f} times as quick as"
    )
    print(f"            {old:8.2f} s for sorting, intervals and records alone, one by one")
    share = packed / alone
    print(
        f"  records   {packed * times / 1e6:8.2f} MB in {len(closed.records)} of {here:,}"
        f" comparisons, {share:.3f} of one by one (bar: {BAR_BYTES})"
    )
    return 0 if total <= BAR_S and share <= BAR_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
