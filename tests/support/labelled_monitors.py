"""Monitors whose rounds people label, simulated with the functions that the services call."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import numpy as np

from biaswatch.shared.analysis.labels.answer_columns import Case, fold_answers
from biaswatch.shared.analysis.labels.labelled_alarms import labelled_alarm
from biaswatch.shared.analysis.labels.running_gaps import (
    Counts,
    labelled_test_of,
    round_counts,
    summed_rounds,
)
from biaswatch.shared.contracts import (
    Alarm,
    AlarmState,
    ClosedBy,
    Label,
    LabelSample,
    Monitor,
    MonitorPlan,
    Purpose,
    Round,
    RunningGap,
    WatchedFeature,
    WatchedPair,
    derived_id,
)
from tests.support.labelled_studies import (
    AT,
    GROUPS,
    LabelledStudy,
    label_values,
    measured_case,
    sample_of,
)
from tests.support.records import make_monitor, make_run


@dataclass
class LabelledMonitor:
    """A monitor of one comparison, and what labels have said of it so far."""

    study: LabelledStudy
    labels: int
    """Of each group, in each round."""
    seed: int
    tolerance: float = 0.0
    alarms: list[Alarm] = field(default_factory=list)
    gaps: list[RunningGap] = field(default_factory=list)
    readings: list[float] = field(default_factory=list)
    """The gap by the readings alone, round by round."""
    rounds: dict[int, Round] = field(default_factory=dict)
    counts: dict[int, Counts] = field(default_factory=dict)

    @property
    def monitor(self) -> Monitor:
        """What is watched: a against b."""
        low, high = self.study.bounds
        base = make_monitor()
        feature = WatchedFeature(
            extractor="judge", feature="x", low=low, high=high, tolerance=self.tolerance
        )
        pair = WatchedPair(dimension="group", a="a", b="b")
        given = base.plan.model_dump() | {"features": (feature,), "comparisons": (pair,)}
        return base.model_copy(update={"plan": MonitorPlan(**given), "name": f"m{self.seed}"})

    def label_round(self, number: int, study: LabelledStudy | None = None) -> None:
        """Ask a round, draw answers, have them labelled, and look."""
        study = study or self.study
        rng = np.random.default_rng([self.seed, number])
        cases, sample, given = _labelled_round(study, self.labels, rng, f"{self.seed}-{number}")
        monitor = self.monitor
        comparison = monitor.plan.all_comparisons[0]
        self.rounds[number] = _round(monitor, number, sample.run_id)
        self.counts[number] = round_counts(
            fold_answers(cases, [sample], given), sample, given, comparison
        )
        means = [
            np.mean([c.values["x"] for _, c in cases if c.groups["group"] == group])
            for group in GROUPS
        ]
        self.readings.append(float(means[0] - means[1]))
        test = labelled_test_of(monitor.plan, comparison, 0, self.alarms)
        result = summed_rounds(self.counts, comparison, study.bounds, test)
        self.gaps.append(result)
        alarm = labelled_alarm(
            monitor, self.rounds, comparison, self.counts, study.bounds, test, result, self.alarms,
            AT + timedelta(hours=number),
        )  # fmt: skip
        self.alarms += [alarm] if alarm else []

    @property
    def raised(self) -> list[Alarm]:
        """The alarms that were raised."""
        return [alarm for alarm in self.alarms if alarm.state is AlarmState.RAISED]


def watched(
    study: LabelledStudy, labels: int, seed: int, rounds: int, *, to_the_end: bool = False
) -> LabelledMonitor:
    """Return a monitor that was labelled round after round, until its first alarm or to the end."""
    result = LabelledMonitor(study, labels, seed)
    for number in range(rounds):
        result.label_round(number)
        if result.raised and not to_the_end:
            break
    return result


def _labelled_round(
    study: LabelledStudy, labels: int, rng: np.random.Generator, nonce: str
) -> tuple[list[Case], LabelSample, Sequence[Label]]:
    run = make_run(nonce=nonce)
    cases: list[Case] = []
    truth: dict[str, float] = {}
    for group in GROUPS:
        true = study.truths(rng, group, study.answers)
        readings = study.instrument(rng, group, true)
        for place, (value, reading) in enumerate(zip(true, readings, strict=True)):
            id_ = derived_id("response", run.id, group, place)
            truth[id_] = float(value)
            cases.append((id_, measured_case(group, place, float(reading))))
    sample = sample_of(study, run, cases, 2 * labels)
    ns = [
        label
        for person in range(study.people)
        for label in label_values(study, sample, truth, f"person {person}", rng)
    ]
    return cases, sample, ns


def _round(monitor: Monitor, number: int, run_id: str) -> Round:
    return Round(
        purpose=Purpose.MONITOR,
        at=AT,
        monitor_id=monitor.monitor_id,
        monitor=monitor.name,
        round=number,
        run_id=run_id,
        closed_by=ClosedBy.ARRIVAL,
        expected=1,
        arrived=1,
    )


def without_error(study: LabelledStudy) -> LabelledStudy:
    """Return the same study with an instrument that never errs."""
    return replace(study, instrument=lambda rng, group, truth: truth)
