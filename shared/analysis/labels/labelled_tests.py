"""Tests by labels of what a monitor watches: their share of alpha, and their rounds."""

from collections.abc import Collection
from dataclasses import dataclass
from math import log

from biaswatch.shared.analysis.monitors.alpha import percent
from biaswatch.shared.contracts import (
    MISSING,
    Alarm,
    AlarmKind,
    AlarmState,
    Claim,
    Comparison,
    MonitorPlan,
)
from biaswatch.shared.stats.anytime.judging import share_left, share_of_test

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
