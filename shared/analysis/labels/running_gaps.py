"""The gap over all labelled rounds of a monitor, and the part that each round adds."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log

import numpy as np

from biaswatch.shared.analysis.findings.observations import coded, within
from biaswatch.shared.analysis.labels.answer_columns import AnswerColumns
from biaswatch.shared.analysis.labels.labelled_rows import labels_by_answer
from biaswatch.shared.analysis.monitors.alpha_shares import percent
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
from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.labels.running_gap import (
    LabelledGroup,
    pair_counts,
    running_gap,
    running_log_e,
)
from biaswatch.shared.stats.samples import chunks

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
        comparison_
        for comparison_ in plan.all_comparisons
        if comparison_.watched.feature != MISSING
        and comparison_.pair.b is not None
        and not comparison_.watched.method.of_selections
    ]


def labelled_test_of(
    plan: MonitorPlan, comparison: Comparison, epoch: int, history: Collection[Alarm]
) -> LabelledTest:
    """Return the test by labels of a comparison in an epoch.

    Each epoch begins one, and so does an alarm that labels have shown to be over; each has a share
    of alpha that no other has, so that they add up to it however many there will be.
    """
    alarms = [
        alarm
        for alarm in history
        if alarm.what is AlarmKind.LABELLED and alarm.comparison_key == comparison.key
    ]
    # A new epoch clears without a test of its own.
    ended = [e for e in alarms if e.state is AlarmState.CLEARED and e.test and e.epoch <= epoch]
    number = 1 + epoch + len(ended)
    since = max((alarm.round + 1 for alarm in ended if alarm.epoch == epoch), default=0)
    over = {alarm.occasion for alarm in alarms if _is(alarm, AlarmState.CLEARED, epoch)}
    raised = (alarm for alarm in alarms if _is(alarm, AlarmState.RAISED, epoch))
    open_alarm = next((alarm for alarm in raised if alarm.occasion not in over), None)
    level = plan.alpha * share_of_test(number) / len(tested_by_labels(plan))
    return LabelledTest(number, since, level, open_alarm)


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
        f" {percent(share_of_test(number))} of it, and {percent(share_left(number))} is left for"
        " later ones. It rests on labels that are right, and on answers drawn evenly"
    )


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
    values_by_answer = labels_by_answer(labels)
    own_answers = [answer for answer in answers if answer.extractor == sample.extractor]
    sides = [_group(own_answers, name, sample, values_by_answer) for name in (pair.a, pair.b)]
    places = min(len(side.labels) for side in sides)
    if not places:
        return ()
    names = [f"{sample.run_id}/{watched.key}/{place}" for place in range(places)]
    return pair_counts(sides[0], sides[1], (sample.low, sample.high), names)


def in_force(samples: Sequence[LabelSample], labels: Sequence[Label]) -> LabelSample:
    """Return the largest sample drawn before the first label, else the smallest one.

    Who draws more after having seen what labels say must not decide what the bets are made on.
    """
    first = min((label.at for label in labels), default=None)
    before = [sample for sample in samples if first is None or sample.at <= first]
    if before:
        return max(before, key=lambda sample: sample.wanted)
    return min(samples, key=lambda sample: sample.wanted)


def summed_rounds(
    counts: Mapping[int, Counts], watched: Comparison, bounds: Bounds, test: LabelledTest
) -> RunningGap:
    """Return what labelled rounds together show of one comparison, in the test under way.

    `counts` are those of each labelled round of the epoch, by its number.
    """
    own_counts = {number: pairs for number, pairs in counts.items() if number >= test.since_round}
    tolerance = watched.watched.tolerance
    gap = running_gap([*own_counts.values()], bounds, test.level)
    log_e = running_log_e([*own_counts.values()], bounds, tolerance)
    if log_e >= test.bound:
        verdict = Verdict.DISPARITY
    elif _inside(gap.low, gap.high, tolerance):
        verdict = Verdict.NO_DISPARITY
    else:
        verdict = Verdict.INCONCLUSIVE
    return RunningGap(
        **asdict(gap),
        rounds=sum(any(pairs) for pairs in own_counts.values()),
        pairs=sum(map(sum, own_counts.values())),
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
    """Return the gap of rounds after an alarm that show it to be over, and its limit.

    That is the tolerance, or half of the gap of the alarm where that is more: so that an alarm at
    tolerance 0 can be cleared, too.
    """
    if test.alarm is None:
        return None
    later = LabelledTest(test.number, test.alarm.round + 1, test.level, None)
    running = summed_rounds(counts, watched, bounds, later)
    limit = max(watched.watched.tolerance, abs(test.alarm.gap.value or 0.0) / 2)
    over = running.verdict is not Verdict.DISPARITY and _inside(running.low, running.high, limit)
    return (running, limit) if over else None


def _inside(low: float | None, high: float | None, limit: float) -> bool:
    return low is not None and high is not None and -limit < low and high < limit


def _group(
    answers: Sequence[AnswerColumns],
    group: str,
    sample: LabelSample,
    values_by_answer: Mapping[str, Mapping[str, float]],
) -> LabelledGroup:
    """Return the answers about one group: those drawn, in the order of the queue, and the rest."""
    readings: dict[str, float] = {}
    rest: list[tuple[AnswerColumns, Bools]] = []
    for columns in answers:
        in_group = _about(columns, sample.dimension, group)
        ids = [one.response_id for one in sample.drawn if one.response_id in columns.row_of]
        rows = np.array([columns.row_of[id_] for id_ in ids], dtype=np.intp)
        values = within(columns.readings[sample.feature][rows], (sample.low, sample.high))
        present = in_group[rows] & np.isfinite(values)
        readings |= {ids[place]: float(values[place]) for place in np.flatnonzero(present)}
        in_group[rows] = False
        rest.append((columns, in_group))
    drawn_ids = [answer.response_id for answer in sample.drawn if answer.response_id in readings]
    labels = [
        float(np.mean(list(values_by_answer[id_].values())))
        if values_by_answer.get(id_)
        else np.nan
        for id_ in drawn_ids
    ]
    return LabelledGroup(
        readings=np.array([readings[id_] for id_ in drawn_ids]),
        labels=np.array(labels),
        undrawn=_in_order(rest, sample),
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
    keys = np.empty(sum(int(own.sum()) for _, own in parts), dtype=np.complex128)
    salt, filled = hashes([sample.run_id]), 0
    for columns, own in parts:
        for chunk in chunks(len(own)):
            read = within(columns.readings[sample.feature][chunk], (sample.low, sample.high))
            present = own[chunk] & np.isfinite(read)
            more = keys[filled : filled + int(present.sum())]
            more.real = uniform_table(columns.id_hashes[chunk][present], salt)[:, 0]
            more.imag = read[present]
            filled += len(more)
    keys = keys[:filled]
    keys.sort()
    return keys.imag.copy()
