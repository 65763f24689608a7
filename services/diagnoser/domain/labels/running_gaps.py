"""What labels of one round add to the gap over all labelled rounds of a monitor, and their sum."""

from collections.abc import Mapping, Sequence

import numpy as np

from services.diagnoser.domain.findings.observations import within
from services.diagnoser.domain.labels.labelled_rows import Case, labels_by_answer
from shared.contracts import Comparison, Label, LabelDraw, LabelSample, RunningGap, Verdict
from shared.stats.estimate import IntervalEstimate
from shared.stats.labels.running_gap import LabelledGroup, pair_counts, running_gap

Counts = tuple[int, ...]


def round_counts(
    cases: Sequence[Case], sample: LabelSample, labels: Sequence[Label], watched: Comparison
) -> Counts:
    """Return the labelled pairs of a round for one comparison; empty where it has none.

    Only an even draw has pairs: with unequal probabilities places of the queue are not alike.
    """
    pair = watched.pair
    if sample.draw is not LabelDraw.EVEN or pair.b is None or pair.dimension != sample.dimension:
        return ()
    said = labels_by_answer(labels)
    readings = dict(
        zip(
            (id_ for id_, _ in cases),
            within([case.values.get(sample.feature) for _, case in cases], _bounds(sample)),
            strict=True,
        )
    )
    groups = {id_: case.groups.get(sample.dimension) for id_, case in cases}
    sides = [_group(name, sample, readings, groups, said) for name in (pair.a, pair.b)]
    places = min(len(side.labels) for side in sides)
    if not places:
        return ()
    names = [f"{sample.run_id}/{watched.key}/{place}" for place in range(places)]
    return pair_counts(sides[0], sides[1], _bounds(sample), names)


def summed_rounds(
    counts: Sequence[Counts], watched: Comparison, bounds: tuple[float, float], level: float
) -> RunningGap:
    """Return what all labelled rounds together show of one comparison."""
    found = running_gap(counts, bounds, level)
    tolerance = watched.watched.tolerance
    return RunningGap(
        value=found.value,
        low=found.low,
        high=found.high,
        reason=found.reason,
        rounds=len(counts),
        pairs=sum(map(sum, counts)),
        level=level,
        tolerance=tolerance,
        verdict=_verdict(found, tolerance),
    )


def _group(
    name: str,
    sample: LabelSample,
    readings: Mapping[str, float],
    groups: Mapping[str, str | None],
    said: Mapping[str, Mapping[str, float]],
) -> LabelledGroup:
    mine = [
        each.response_id
        for each in sample.drawn
        if sample.strata[each.stratum].group == name and each.response_id in readings
    ]
    every = [value for id_, value in readings.items() if groups[id_] == name and np.isfinite(value)]
    labels = [float(np.mean(list(said[id_].values()))) if said.get(id_) else np.nan for id_ in mine]
    return LabelledGroup(
        mean_reading=float(np.mean(every)) if every else np.nan,
        readings=np.array([readings[id_] for id_ in mine]),
        labels=np.array(labels),
    )


def _bounds(sample: LabelSample) -> tuple[float, float]:
    return sample.low, sample.high


def _verdict(found: IntervalEstimate, tolerance: float) -> Verdict:
    if found.low is None or found.high is None:
        return Verdict.NOT_ENOUGH
    if found.low > tolerance or found.high < -tolerance:
        return Verdict.DISPARITY
    if -tolerance < found.low and found.high < tolerance:
        return Verdict.NO_DISPARITY
    return Verdict.NOT_ENOUGH
