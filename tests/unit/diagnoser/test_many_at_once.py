"""Many comparisons closed at once: each has the numbers that it would have alone."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors import evidence
from biaswatch.shared.analysis.monitors.evidence import closed_round, evidence_of, increments_of
from biaswatch.shared.analysis.monitors.pair_counts import GAPS, LEVEL
from biaswatch.shared.analysis.monitors.round_answers import Counts, RoundCounts
from biaswatch.shared.contracts import (
    ClosedBy,
    Comparison,
    Completion,
    Evidence,
    Monitor,
    Round,
    RoundEvidence,
    Verdict,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.contracts.evidence_rows import ComparisonRows, evidence_rows, round_evidence
from tests.support.decided_rounds import DecidedRounds, of_pairs, watching
from tests.support.monitored import round_run
from tests.support.pair_histogram import PairHistogram
from tests.support.records import AT, make_monitor, make_plan
from tests.support.scalar_monitor import ScalarMonitor, interval_by_scanning

EXACT = 1e-12
LOOKED_AT = (0, 4, 9, 20)
"""Rounds: the first, those that make references, and the last."""
TOLERANCES = (0.0, 0.02, 0.05, 0.3)
Lasts = Sequence[Evidence]


def incomplete(units: int, rng: np.random.Generator) -> Counts:
    """Return units of which answers are missing."""
    result: Counts = {}
    for name in (GAPS, LEVEL):
        lower = rng.uniform(-1, 0.5, units)
        pairs = PairHistogram.empty().bounded(lower, lower + 0.4, rng.random(units))
        seen = PairHistogram.of(lower + 0.2, rng.random(units)).counts
        parts = {"lower": pairs.lower, "upper": pairs.upper, "seen": seen}
        result |= {f"{name}_{part}": counts for part, counts in parts.items()}
    return result


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("sets", [1, 40])
def test_a_quiet_comparison_has_the_numbers_of_the_formulas_one_by_one(
    tolerance: float, sets: int
) -> None:
    rng, decided = np.random.default_rng(sets), DecidedRounds(watching(tolerance))
    plan = decided.monitor.plan
    scalar = ScalarMonitor(
        tolerance,
        plan.change_tolerance,
        plan.reference_rounds,
        plan.alpha,
        len(plan.all_comparisons),
    )
    for number in range(21):
        counts = of_pairs(rng.normal(0.01, 0.2, sets), rng.normal(0, 0.2, sets), rng)
        counts |= incomplete(2, rng) if number % 3 == 0 else {}
        result = decided.close(counts)
        assert result.recovery is None
        parts = [
            [counts.get(f"{name}{part}", ()) for part in ("", "_seen", "_lower", "_upper")]
            for name in (GAPS, LEVEL)
        ]
        scalar.add(*(PairHistogram(*part) for part in parts))
        assert result.log_e == pytest.approx(scalar.log_e, abs=EXACT)
        if number not in LOOKED_AT:
            continue
        expected = (scalar.gap.estimate, *interval_by_scanning(scalar.gap, scalar.gap_alpha))
        assert [result.gap.value, result.gap.low, result.gap.high] == pytest.approx(
            expected, abs=EXACT
        )
        if result.verdict is Verdict.INCONCLUSIVE:
            assert result.more_units == scalar.forecast
        for change, search in (
            (result.change, scalar.change),
            (result.level_change, scalar.level_change),
        ):
            assert change is not None
            now = (change.log_evidence, change.smallest, change.reference, change.allowed)
            newest = search.references[-1] if search.references else None
            reference = (newest.value, newest.allowed) if newest else (None, None)
            expected_change = (search.log_evidence, search.smallest, *reference)
            assert now == pytest.approx(expected_change, abs=EXACT)


def test_a_group_that_never_answers_has_no_gap_and_a_reason_that_fits() -> None:
    rng, decided = np.random.default_rng(2), DecidedRounds(watching(0.05))
    nothing = {name: PairHistogram.empty().counts for name in (GAPS, LEVEL)}
    unseen = {f"{name}_seen": nothing[name] for name in (GAPS, LEVEL)}
    result = decided.close(nothing | incomplete(5, rng) | unseen)
    assert result.units == 5
    assert (result.gap.value, result.gap.reason) == (
        None, "no set has an answer of both groups yet",
    )  # fmt: skip


def comparisons() -> list[Comparison]:
    pair = WatchedPair(dimension="side", a="a", b="b")
    return [
        Comparison(
            watched=WatchedFeature(
                extractor="x", feature=f"f{n}", tolerance=TOLERANCES[n % 4], low=0, high=1 + n % 3
            ),
            pair=pair,
        )
        for n in range(24)
    ]


def closed_now(monitor: Monitor, number: int) -> Round:
    """Return a round that closes."""
    run = round_run(monitor, number)
    ended = Completion(
        at=AT, run_id=run.id, stage="features", closed_by=ClosedBy.ARRIVAL, expected=1, arrived=1
    )
    return closed_round(run, monitor, ended, ("m",), None, AT)


def closed(
    monitor: Monitor,
    number: int,
    counts: Mapping[str, Counts],
    batches: Sequence[Any],
    lasts: Lasts,
) -> list[Evidence]:
    """Close a round, the comparisons of each batch at once."""
    round_ = closed_now(monitor, number)
    seen = {key: RoundCounts(count, 0) for key, count in counts.items()}
    result: list[Evidence] = []
    for batch in batches:
        increments = increments_of(round_, batch, seen)
        result += evidence_of(increments, lasts, round_, monitor, lambda _, __: {})
    return result


def test_many_at_once_are_what_each_is_alone_also_while_alarms_stand_and_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    all_of, rng = comparisons(), np.random.default_rng(3)
    plan = make_plan(features=tuple(item.watched for item in all_of), comparisons=(all_of[0].pair,))
    monitor = make_monitor(plan=plan)
    lasts: Lasts = ()
    seen = set()
    for number in range(30):
        counts = {}
        for n, comparison in enumerate(all_of):
            gap = (0.4 if number < 8 else 0.0) if n % 3 == 0 else 0.0
            sets = 30 + n
            counts[comparison.key] = of_pairs(
                rng.normal(gap, 0.2, sets), rng.normal(0, 0.2, sets), rng
            )
            counts[comparison.key] |= incomplete(n % 5, rng) if n % 5 and n % 2 else {}
        together = closed(monitor, number, counts, [all_of], lasts)
        alone = closed(monitor, number, counts, [[item] for item in all_of], lasts)
        with monkeypatch.context() as patched:
            patched.setattr(evidence, "may_be_quiet", lambda _: False)
            as_objects = closed(monitor, number, counts, [all_of], lasts)
        for one, *others in zip(together, alone, as_objects, strict=True):
            for other in others:
                _assert_same(json.loads(one.model_dump_json()), json.loads(other.model_dump_json()))
        seen |= {(item.recovery is not None, item.verdict) for item in together}
        lasts = together
    assert (True, Verdict.DISPARITY) in seen
    assert any(last.test and last.test.number == 2 for last in lasts)


@pytest.mark.parametrize(("features", "pairs"), [(1, 12), (2, 8), (3, 12), (10, 50)])
def test_pairs_of_groups_in_several_features_close_on_what_the_store_holds(
    features: int, pairs: int
) -> None:
    watched = tuple(WatchedFeature(extractor="x", feature=f"f{n}") for n in range(features))
    compared = tuple(WatchedPair(dimension="side", a=f"a{n % 7}", b=f"b{n}") for n in range(pairs))
    all_of = [Comparison(watched=feature, pair=pair) for feature in watched for pair in compared]
    monitor = make_monitor(plan=make_plan(features=watched, comparisons=compared))
    rng, counts = np.random.default_rng(4), {}
    for item in all_of:
        counts[item.key] = of_pairs(rng.normal(0, 0.2, 20), rng.normal(0, 0.2, 20), rng)
    last: ComparisonRows[Evidence] | None = None
    for number in range(3):
        round_ = closed_now(monitor, number)
        seen = {key: RoundCounts(value, 0) for key, value in counts.items()}
        increments = increments_of(round_, all_of, seen)
        current = evidence_of(increments, last or (), round_, monitor, lambda _, __: {})
        stored = round_evidence(increments, current)
        last = evidence_rows([RoundEvidence.decode(record.encode()) for record in stored])
    assert last is not None
    assert [item.comparison for item in last] == all_of
    assert {item.units for item in last} == {60}


def _assert_same(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            _assert_same(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for item, other_item in zip(one, other, strict=True):
            _assert_same(item, other_item)
    else:
        assert one == pytest.approx(other, abs=EXACT) if isinstance(one, float) else one == other
