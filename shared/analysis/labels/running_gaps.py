"""What labels of one round add to the gap over labelled rounds of a monitor, and their sum."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.analysis.findings.observations import Floats, coded, within
from biaswatch.shared.analysis.labels.labelled_rows import AnswerColumns, labels_by_answer
from biaswatch.shared.analysis.monitors.plans import percent
from biaswatch.shared.contracts import (
    MISSING,
    Alarm,
    AlarmKind,
    AlarmState,
    Claim,
    Comparison,
    Label,
    LabelDraw,
    LabelSample,
    MonitorPlan,
    RunningGap,
    Verdict,
)
from biaswatch.shared.stats.anytime.judging import share_left, share_of_test
from biaswatch.shared.stats.anytime.units import hashes, uniform_table
from biaswatch.shared.stats.labels.running_gap import (
    LabelledGroup,
    pair_counts,
    running_gap,
    running_log_e,
)
from biaswatch.shared.stats.samples import stretches

UNADJUSTED = (
    "users of production traffic are matched by moment and stratum, and labelled answers are not"
)
REPEATED = (
    "each prompt has several answers in a round, which vary together; labels bet on each by itself"
)


@dataclass(frozen=True)
class LabelledTest:
    """Which test by labels of a comparison it is, in all epochs, and where it stands."""

    number: int
    since_round: int
    """The first round that counts."""
    level: float
    """The chance of a false alarm of this comparison in this test."""
    alarm: Alarm | None
    """The alarm of this test that stands."""

    @property
    def bound(self) -> float:
        """The logarithm of the evidence that alarms."""
        return -log(self.level)


def tested_by_labels(plan: MonitorPlan) -> list[Comparison]:
    """Return the comparisons that labels can speak of: of two groups, by values of a number.

    Nobody labels what is missing; a comparison with all others, or in log odds, has no pairs.
    """
    return [
        each
        for each in plan.watched
        if each.watched.feature != MISSING
        and each.pair.b is not None
        and not each.watched.method.of_selections
    ]


def labelled_test_of(
    plan: MonitorPlan, comparison: Comparison, epoch: int, history: Collection[Alarm]
) -> LabelledTest:
    """Return the test by labels of a comparison in an epoch.

    Each epoch begins one, and so does an alarm that labels have shown to be over; each has a share
    of alpha that no other has, so that they add up to it however many there will be.
    """
    mine = [
        each
        for each in history
        if each.what is AlarmKind.LABELLED and each.comparison_key == comparison.key
    ]
    # A new epoch clears without a test of its own.
    ended = [e for e in mine if e.state is AlarmState.CLEARED and e.test and e.epoch <= epoch]
    number = 1 + epoch + len(ended)
    since = max((each.round + 1 for each in ended if each.epoch == epoch), default=0)
    over = {each.occasion for each in mine if _is(each, AlarmState.CLEARED, epoch)}
    raised = (each for each in mine if _is(each, AlarmState.RAISED, epoch))
    standing = next((each for each in raised if each.occasion not in over), None)
    level = plan.alpha * share_of_test(number) / len(tested_by_labels(plan))
    return LabelledTest(number, since, level, standing)


def _is(alarm: Alarm, state: AlarmState, epoch: int) -> bool:
    return alarm.state is state and alarm.epoch == epoch


def why_no_alarm(plan: MonitorPlan) -> str | None:
    """Return why labels raise no alarm of a monitor, where they do not."""
    if plan.traffic is not None:
        return UNADJUSTED
    if plan.claim is Claim.POPULATION and plan.repeats > 1:
        return REPEATED
    return None


def labelled_promise(plan: MonitorPlan, number: int) -> str:
    """Say how probable a false alarm by labels is, ever."""
    comparisons = len(tested_by_labels(plan))
    return (
        "The probability that labels ever make this monitor raise a false alarm, over the"
        f" {comparisons} comparison{'' if comparisons == 1 else 's'} that they can test, all epochs"
        f" and all alarms, is at most {plan.alpha:g}, which is spent beside that of its alarms by"
        f" readings: this was test {number} by labels of the comparison, with"
        f" {percent(share_of_test(number))} of it, and {percent(share_left(number))} are left for"
        " later ones. It rests on labels that are right, and on answers drawn evenly"
    )


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
        **asdict(found),
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
