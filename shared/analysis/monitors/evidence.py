"""The records a closed round leaves: itself in its epoch, its increments, and their sums, read."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from biaswatch.shared.analysis.monitors.alpha_shares import gap_bound
from biaswatch.shared.analysis.monitors.blocks import PairBlocks, SuiteBlocks
from biaswatch.shared.analysis.monitors.change_search import next_changes
from biaswatch.shared.analysis.monitors.count_columns import CountedComparisons
from biaswatch.shared.analysis.monitors.gap_evidence import GapUnderWay
from biaswatch.shared.analysis.monitors.gap_tests import TestedGap, tested_gaps
from biaswatch.shared.analysis.monitors.quiet_rounds import QuietRound, are_quiet, may_be_quiet
from biaswatch.shared.analysis.monitors.round_answers import (
    ClosedCounts,
    Counts,
    RoundCounts,
    summed,
)
from biaswatch.shared.contracts import (
    Change,
    Claim,
    Comparison,
    Completion,
    Evidence,
    Increment,
    Method,
    Monitor,
    MonitorPlan,
    Round,
    Run,
)
from biaswatch.shared.contracts.column_joins import Block, joined
from biaswatch.shared.contracts.columns import are_equal, columns_of, taken
from biaswatch.shared.contracts.evidence_rows import ComparisonRows
from biaswatch.shared.contracts.round_evidence import HEADER
from biaswatch.shared.stats.arrays import Ints


def models_of(reported: Iterable[tuple[str | None, str | None]]) -> tuple[str, ...]:
    """Return what answered, by the names and fingerprints it gave; nothing where it gave none."""
    named = {" ".join(filter(None, parts)) for parts in reported}
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
        declared_after_data=monitor.history is not None,
    )


def _changed(
    instruments: Sequence[str], models: Sequence[str], before: Round | None
) -> tuple[str, ...]:
    if before is None:
        return ()
    new = sorted(set(models) - set(before.models)) if before.models else []
    sentences = [f"the model now calls itself {name}" for name in new]
    measured = sorted(set(instruments) - set(before.instruments))
    return (*sentences, *(f"it is now measured by {name}" for name in measured))


def repeated_probes(
    plan: MonitorPlan, closed: Round, cached: Container[str]
) -> Callable[[str], bool]:
    """Return a test whether the answer to a probe, by its id, is that of an earlier round.

    Parameters
    ----------
    cached
        Ids of probes that a cache answered.
    """
    if plan.claim is not Claim.BANK or closed.round == closed.began_with:
        return lambda _: False
    return lambda probe_id: not plan.renews_answers or probe_id in cached


def increments_of(
    closed: Round, comparisons: Sequence[Comparison], counted: Mapping[str, RoundCounts]
) -> ComparisonRows[Increment]:
    """Return what a closed round adds to comparisons."""
    if not isinstance(counted, CountedComparisons) or counted.comparisons is not comparisons:
        counted = CountedComparisons.of(comparisons, [counted[one.key] for one in comparisons])
    columns = {"comparison": {"parts": columns_of(comparisons)}, **counted.columns}
    return ComparisonRows(Increment, _carried(closed), columns, len(comparisons))


def evidence_of(
    increments: Sequence[Increment],
    last: Sequence[Evidence],
    closed: Round,
    monitor: Monitor,
    up_to: Callable[[int, str], Counts],
    blocks: SuiteBlocks | None = None,
) -> ComparisonRows[Evidence]:
    """Return the sums of an epoch up to this round, and what they allow to say.

    Parameters
    ----------
    increments
        What the round adds, for each comparison; at least one.
    last
        The evidence of the round before; empty before the first.
    up_to
        Return the sum of the epoch up to an earlier round, of one comparison; asked for when an
        alarm is raised.
    blocks
        The blocks of names and texts of the suite; None without random factors.
    """
    added, before = ComparisonRows.of(increments), ComparisonRows.of(last) if last else None
    places = _places_before(added, before)
    parts = []
    for start in range(0, len(added), AT_ONCE):
        rows = np.arange(start, min(start + AT_ONCE, len(added)))
        chunk = added.of_rows(rows)
        parts += [
            (rows[at], columns)
            for at, columns in _chunk(chunk, before, places[rows], closed, monitor, up_to, blocks)
        ]
    return ComparisonRows(Evidence, _carried(closed), joined(parts, len(added)), len(added))


AT_ONCE = 1024
"""Comparisons that are computed together; bounds memory, and fits the processor's cache."""


def _places_before(
    added: ComparisonRows[Increment], before: ComparisonRows[Evidence] | None
) -> Ints:
    """Return where each comparison was in the round before; -1 where it was not."""
    if before is None:
        return np.full(len(added), -1)
    if are_equal(added.columns["comparison"], before.columns["comparison"]):
        return np.arange(len(added))
    places = {key: place for place, key in enumerate(before.keys)}
    return np.array([places.get(key, -1) for key in added.keys], dtype=np.int64)


def _chunk(
    added: ComparisonRows[Increment],
    before: ComparisonRows[Evidence] | None,
    places: Ints,
    closed: Round,
    monitor: Monitor,
    up_to: Callable[[int, str], Counts],
    blocks: SuiteBlocks | None,
) -> Iterator[Block]:
    """Return the evidence of quiet comparisons as columns, and then that of all others."""
    same = before if before is not None and before.header["epoch"] == closed.epoch else None
    quiet, own = np.zeros(len(added), dtype=np.bool_), None
    is_known = before is None or (same is not None and bool((places >= 0).all()))
    if may_be_quiet(monitor.plan) and is_known:
        own = None if same is None else same.of_rows(places)
        quiet = are_quiet(added, own)
    if (rows := np.flatnonzero(quiet)).size:
        own = None if own is None else own.of_rows(rows)
        round_ = QuietRound(added.of_rows(rows), own, monitor.plan, closed.round, closed.epoch)
        columns, alarms = round_.evidence()
        kept = np.flatnonzero(~alarms)
        yield rows[kept], columns if len(kept) == len(rows) else taken(columns, kept)
        quiet[rows[alarms]] = False
    if (rows := np.flatnonzero(~quiet)).size:
        lasts: list[Evidence | None] = [None] * len(rows)
        if before is not None and (was := np.flatnonzero(places[rows] >= 0)).size:
            known = before.of_rows(places[rows[was]])
            for place, latest in zip(was.tolist(), known, strict=True):
                lasts[place] = latest
        increments = list(added.of_rows(rows))
        evidence = _one_by_one(increments, lasts, closed, monitor, up_to, blocks)
        yield rows, ComparisonRows.of(evidence).columns


def _one_by_one(
    increments: Sequence[Increment],
    lasts: Sequence[Evidence | None],
    closed: Round,
    monitor: Monitor,
    up_to: Callable[[int, str], Counts],
    blocks: SuiteBlocks | None,
) -> list[Evidence]:
    plan = monitor.plan
    counts = [_counts(*row, closed, up_to) for row in zip(increments, lasts, strict=True)]
    rows = zip(increments, lasts, counts, strict=True)
    tested = tested_gaps(
        [
            GapUnderWay.of(
                increment.comparison,
                last,
                count,
                plan,
                _blocks_of(increment.comparison, blocks, plan),
            )
            for increment, last, count in rows
        ]
    )
    changes = _changes(lasts, counts, plan)
    columns = zip(increments, lasts, counts, tested, changes, strict=True)
    return [_evidence(*row, closed, plan) for row in columns]


def _counts(
    increment: Increment,
    latest: Evidence | None,
    closed: Round,
    up_to: Callable[[int, str], Counts],
) -> ClosedCounts:
    earlier, key = _same_epoch(latest, closed), increment.comparison.key
    total = summed(earlier.counts, increment.counts) if earlier else increment.counts
    return ClosedCounts(closed, increment.counts, total, lambda round_: up_to(round_, key))


def _blocks_of(
    comparison: Comparison, blocks: SuiteBlocks | None, plan: MonitorPlan
) -> PairBlocks | None:
    """Return the blocks of a suite's comparison; of traffic, those of the declared cluster."""
    method = comparison.watched.method
    if method is Method.MATCHED and plan.traffic is not None and plan.traffic.cluster:
        return PairBlocks({}, ())
    is_of_twins = method is Method.PAIRS
    return blocks.of(comparison.pair) if blocks is not None and is_of_twins else None


def _same_epoch(latest: Evidence | None, closed: Round) -> Evidence | None:
    return latest if latest is not None and latest.epoch == closed.epoch else None


def _evidence(
    increment: Increment,
    latest: Evidence | None,
    counts: ClosedCounts,
    tested: TestedGap,
    changes: tuple[Change | None, Change | None],
    closed: Round,
    plan: MonitorPlan,
) -> Evidence:
    earlier = _same_epoch(latest, closed)
    of_this_test = (
        earlier if earlier and earlier.test and earlier.test.number == tested.test.number else None
    )
    return Evidence(
        **_carried(closed),
        comparison=increment.comparison,
        rounds=(earlier.rounds if earlier else 0) + 1,
        counts=counts.total,
        missing=(earlier.missing if earlier else 0) + increment.missing,
        bound=gap_bound(plan, tested.test.number),
        test=tested.test,
        shown=tested.shown,
        recovery=tested.recovery,
        log_supremum=max(of_this_test.log_supremum if of_this_test else 0.0, tested.summary.log_e),
        change=changes[0],
        level_change=changes[1],
        before=earlier.before if earlier else (latest.gap if latest else None),
        same_treatment=tested.same.answer,
        log_e_same_treatment=tested.same.log_e,
        same_treatment_reason=tested.same.reason,
        **vars(tested.beyond),
        **vars(tested.summary),
    )


def _carried(closed: Round) -> dict[str, Any]:
    return {name: getattr(closed, name) for name in HEADER}


def _changes(
    lasts: Sequence[Evidence | None], counts: Sequence[ClosedCounts], plan: MonitorPlan
) -> list[tuple[Change | None, Change | None]]:
    """Return the searches for changes of gap and level.

    In traffic each user enters once, so that later windows are of users who come more rarely: they
    differ from the first ones without any change.
    """
    if plan.traffic is not None:
        return [(None, None)] * len(lasts)
    gaps, levels = (next_changes(lasts, counts, plan, level=level) for level in (False, True))
    return list(zip(gaps, levels, strict=True))
