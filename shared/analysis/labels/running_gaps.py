"""What labels of one round add to the gap over labelled rounds of a monitor, and their sum."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.analysis.findings.observations import Floats, coded, within
from biaswatch.shared.analysis.labels.answer_columns import AnswerColumns
from biaswatch.shared.analysis.labels.labelled_rows import labels_by_answer
from biaswatch.shared.analysis.labels.labelled_tests import LabelledTest
from biaswatch.shared.contracts import (
    Comparison,
    Label,
    LabelDraw,
    LabelSample,
    RunningGap,
    Verdict,
)
from biaswatch.shared.stats.anytime.units import hashes, uniform_table
from biaswatch.shared.stats.labels.running_gap import (
    LabelledGroup,
    pair_counts,
    running_gap,
    running_log_e,
)
from biaswatch.shared.stats.samples import stretches

Bools = NDArray[np.bool_]
Counts = tuple[int, ...]
Bounds = tuple[float, float]


def round_counts(
    answers: Sequence[AnswerColumns],
    sample: LabelSample,
    labels: Sequence[Label],
    watched: Comparison,
) -> Counts:
    """Return the labelled pairs of a round for one comparison; empty where it has none.

    Only an even draw has pairs: with unequal probabilities places of the queue are not alike.
    """
    pair = watched.pair
    if sample.draw is not LabelDraw.EVEN or pair.b is None or pair.dimension != sample.dimension:
        return ()
    said = labels_by_answer(labels)
    mine = [each for each in answers if each.extractor == sample.extractor]
    sides = [_group(mine, name, sample, said) for name in (pair.a, pair.b)]
    places = min(len(side.labels) for side in sides)
    if not places:
        return ()
    names = [f"{sample.run_id}/{watched.key}/{place}" for place in range(places)]
    return pair_counts(sides[0], sides[1], (sample.low, sample.high), names)


def in_force(samples: Sequence[LabelSample], labels: Sequence[Label]) -> LabelSample:
    """Return the largest sample that was drawn before anybody labelled, else the smallest one.

    Who draws more after having seen what labels say must not decide what the bets are made on.
    """
    first = min((each.at for each in labels), default=None)
    before = [each for each in samples if first is None or each.at <= first]
    if before:
        return max(before, key=lambda each: each.wanted)
    return min(samples, key=lambda each: each.wanted)


def summed_rounds(
    counts: Mapping[int, Counts], watched: Comparison, bounds: Bounds, test: LabelledTest
) -> RunningGap:
    """Return what labelled rounds together show of one comparison, in the test under way.

    `counts` are those of each labelled round of the epoch, by its number.
    """
    mine = {number: each for number, each in counts.items() if number >= test.since_round}
    tolerance = watched.watched.tolerance
    found = running_gap([*mine.values()], bounds, test.level)
    log_e = running_log_e([*mine.values()], bounds, tolerance)
    if log_e >= test.bound:
        verdict = Verdict.DISPARITY
    elif _inside(found.low, found.high, tolerance):
        verdict = Verdict.NO_DISPARITY
    else:
        verdict = Verdict.NOT_ENOUGH
    return RunningGap(
        value=found.value,
        low=found.low,
        high=found.high,
        method=found.method,
        reason=found.reason,
        rounds=sum(any(each) for each in mine.values()),
        pairs=sum(map(sum, mine.values())),
        since_round=test.since_round,
        tolerance=tolerance,
        verdict=verdict,
        log_e=log_e,
        level=test.level,
        bound=test.bound,
        test=test.number,
    )


def is_over(
    counts: Mapping[int, Counts], watched: Comparison, bounds: Bounds, test: LabelledTest
) -> tuple[RunningGap, float] | None:
    """Return the gap of rounds after an alarm that show it to be over, and the limit it lies in.

    That is the tolerance, or half of the gap of the alarm where that is more: so that an alarm at
    tolerance 0 can be cleared, too.
    """
    if test.alarm is None:
        return None
    later = LabelledTest(test.number, test.alarm.round + 1, test.level, None)
    found = summed_rounds(counts, watched, bounds, later)
    limit = max(watched.watched.tolerance, abs(test.alarm.gap.value or 0.0) / 2)
    over = found.verdict is not Verdict.DISPARITY and _inside(found.low, found.high, limit)
    return (found, limit) if over else None


def _inside(low: float | None, high: float | None, limit: float) -> bool:
    return low is not None and high is not None and -limit < low and high < limit


def _group(
    answers: Sequence[AnswerColumns],
    group: str,
    sample: LabelSample,
    said: Mapping[str, Mapping[str, float]],
) -> LabelledGroup:
    """Return the answers about one group: those drawn, in the order of the queue, and the rest."""
    readings: dict[str, float] = {}
    rest: list[tuple[AnswerColumns, Bools]] = []
    for each in answers:
        mine = _about(each, sample.dimension, group)
        ids = [one.response_id for one in sample.drawn if one.response_id in each.row_of]
        rows = np.array([each.row_of[id_] for id_ in ids], dtype=np.intp)
        values = within(each.readings[sample.feature][rows], (sample.low, sample.high))
        there = mine[rows] & np.isfinite(values)
        readings |= {ids[place]: float(values[place]) for place in np.flatnonzero(there)}
        mine[rows] = False
        rest.append((each, mine))
    drawn_ids = [each.response_id for each in sample.drawn if each.response_id in readings]
    labels = [
        float(np.mean(list(said[id_].values()))) if said.get(id_) else np.nan for id_ in drawn_ids
    ]
    return LabelledGroup(
        readings=np.array([readings[id_] for id_ in drawn_ids]),
        labels=np.array(labels),
        others=_in_order(rest, sample),
    )


def _about(answers: AnswerColumns, dimension: str, group: str) -> Bools:
    """Tell which answers are about a group."""
    codes, levels = coded(answers.groups[dimension]) if dimension in answers.groups else (None, ())
    if codes is None or group not in levels:
        return np.zeros(len(answers.id_hashes), dtype=np.bool_)
    return np.asarray(codes == levels.index(group))


def _in_order(parts: Sequence[tuple[AnswerColumns, Bools]], sample: LabelSample) -> Floats:
    """Return the readings of answers in the order of uniform numbers that their ids make."""
    # Numbers and readings as complex ones: these are sorted in place, by the first part.
    found = np.empty(sum(int(mine.sum()) for _, mine in parts), dtype=np.complex128)
    salt, filled = hashes([sample.run_id]), 0
    for each, mine in parts:
        for some in stretches(len(mine)):
            read = within(each.readings[sample.feature][some], (sample.low, sample.high))
            there = mine[some] & np.isfinite(read)
            more = found[filled : filled + int(there.sum())]
            more.real = uniform_table(each.id_hashes[some][there], salt)[:, 0]
            more.imag = read[there]
            filled += len(more)
    found = found[:filled]
    found.sort()
    return found.imag.copy()
