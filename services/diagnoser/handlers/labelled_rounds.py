"""Evidence of labels over all labelled rounds of a monitor's epoch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from biaswatch.shared.analysis.labels.answer_columns import AnswerColumns
from biaswatch.shared.analysis.labels.labelled_alarms import labelled_alarm
from biaswatch.shared.analysis.labels.running_gaps import (
    Bounds,
    Counts,
    in_force,
    labelled_test_of,
    round_counts,
    summed_rounds,
    tested_by_labels,
    why_no_alarm,
)
from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    Comparison,
    Correction,
    Label,
    LabelledComparison,
    LabelSample,
    Monitor,
    MonitorState,
    Round,
    Run,
    current_labels,
)
from biaswatch.shared.store import Store

NOT_CLOSED = "the round is not closed yet"
EARLIER_EPOCH = "the model or an instrument has changed since: a later epoch is watched now"


@dataclass(frozen=True)
class LabelledEpoch:
    """The epoch of a newly labelled round, with its other labelled rounds."""

    monitor: Monitor
    epoch: int
    rounds: Mapping[int, Round]
    """By number; the new round is missing until it is closed."""
    corrections: Sequence[Correction]
    """The latest corrections of the other rounds."""
    history: Sequence[Alarm]
    no_alarm: str | None
    """Why these labels cannot raise an alarm; None if they can."""


@dataclass(frozen=True)
class CountedRound:
    """The labelled pairs of one round."""

    run: Run
    epoch: LabelledEpoch
    pairs: Mapping[str, tuple[LabelSample, Counts]]
    """The sample that counts and its labelled pairs, by the key of the comparison."""


@dataclass
class AddedRounds:
    """The corrections of a round with the evidence of its epoch, and the resulting alarms."""

    corrections: list[Correction]
    alarms: list[Alarm] = field(default_factory=list)
    known_alarms: list[Alarm] = field(default_factory=list)
    """Alarms that earlier labels of the epoch raised or cleared."""


class LabelledRounds:
    """Adds up labels over the rounds of a monitor; other rounds are read from their corrections."""

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def counted(
        self,
        run: Run,
        answers: Sequence[AnswerColumns],
        samples: Sequence[LabelSample],
        labels: Sequence[Label],
    ) -> CountedRound | None:
        """Return the labelled pairs of a round; None for a run without a monitor."""
        epoch = self._epoch(run)
        if epoch is None:
            return None
        counts_by_sample: dict[str, tuple[LabelSample, Counts]] = {}
        for comparison in tested_by_labels(epoch.monitor.plan):
            about = comparison.watched.extractor, comparison.watched.feature
            own_samples = [
                sample for sample in samples if (sample.extractor, sample.feature) == about
            ]
            own_labels = [label for label in labels if (label.extractor, label.feature) == about]
            if own_samples and own_labels:
                sample = in_force(own_samples, own_labels)
                counts = round_counts(answers, sample, current_labels(own_labels), comparison)
                counts_by_sample[comparison.key] = sample, counts
        return CountedRound(run, epoch, counts_by_sample)

    def added(self, corrections: Sequence[Correction], counted: CountedRound | None) -> AddedRounds:
        """Return corrections of a round with the evidence of all labelled rounds of its epoch."""
        if counted is None:
            return AddedRounds([*corrections])
        epoch = counted.epoch
        known = [
            e for e in epoch.history if e.what is AlarmKind.LABELLED and e.epoch == epoch.epoch
        ]
        result = AddedRounds([], known_alarms=known)
        for correction in corrections:
            watched = [c for c in tested_by_labels(epoch.monitor.plan) if _is_about(c, correction)]
            parts: list[LabelledComparison] = []
            for comparison in watched:
                if comparison.key in counted.pairs and counted.pairs[comparison.key][1]:
                    part, alarm = self._over_rounds(comparison, counted)
                    parts.append(part)
                    result.alarms += [alarm] if alarm else []
            result.corrections.append(correction.model_copy(update={"over_rounds": tuple(parts)}))
        return result

    def _over_rounds(
        self, comparison: Comparison, counted: CountedRound
    ) -> tuple[LabelledComparison, Alarm | None]:
        """Return a comparison's labels over all rounds, and the alarm that they raise or clear."""
        epoch, (sample, counts) = counted.epoch, counted.pairs[comparison.key]
        bounds = (sample.low, sample.high)
        by_round = {**_counts_in(epoch, comparison, bounds), counted.run.round or 0: counts}
        test = labelled_test_of(epoch.monitor.plan, comparison, epoch.epoch, epoch.history)
        running = summed_rounds(by_round, comparison, bounds, test)
        running = replace(running, no_alarm=epoch.no_alarm)
        alarm = None
        if epoch.no_alarm is None:
            alarm = labelled_alarm(
                epoch.monitor, epoch.rounds, comparison, by_round, bounds, test, running,
                epoch.history, self._now(),
            )  # fmt: skip
        part = LabelledComparison(
            comparison=comparison.key,
            a=comparison.pair.a,
            b=comparison.pair.b or "",
            low=sample.low,
            high=sample.high,
            counts=counts,
            running=running,
        )
        return part, alarm

    def _epoch(self, run: Run) -> LabelledEpoch | None:
        """Return the epoch of a round; None for a run without a monitor."""
        records = self._store.records
        definitions = list(records.of_monitor(Monitor, run.monitor_id)) if run.monitor_id else []
        if not definitions:
            return None
        monitor = max(definitions, key=lambda definition: definition.moment_ms)
        labelled_runs = self._store.labelled_runs.of_monitor(monitor.monitor_id)
        closed = list(records.of_runs(Round, {run.id, *labelled_runs}))
        own_round = next((round_ for round_ in closed if round_.run_id == run.id), None)
        rounds = {
            round_.round: round_
            for round_ in closed
            if own_round and round_.epoch == own_round.epoch
        }
        ids = [round_.run_id for round_ in rounds.values() if round_.run_id != run.id]
        last = self._store.rounds.last(monitor)
        if own_round is None or last is None:
            why: str | None = NOT_CLOSED
        elif own_round.epoch != last.epoch or monitor.state is MonitorState.DELETED:
            why = EARLIER_EPOCH
        else:
            why = why_no_alarm(monitor.plan)
        return LabelledEpoch(
            monitor,
            own_round.epoch if own_round else 0,
            rounds,
            list(records.get(Correction, self._store.labelled_runs.last_corrections(ids))),
            list(records.of_monitor(Alarm, monitor.monitor_id)),
            why,
        )


def _is_about(comparison: Comparison, correction: Correction) -> bool:
    about, pair = comparison.watched, comparison.pair
    return (about.extractor, about.feature, pair.dimension) == (
        correction.extractor,
        correction.feature,
        correction.dimension,
    )


def _counts_in(epoch: LabelledEpoch, comparison: Comparison, bounds: Bounds) -> dict[int, Counts]:
    """Return the labelled pairs of the other rounds on the same scale, by round."""
    number_of = {round_.run_id: number for number, round_ in epoch.rounds.items()}
    return {
        number_of[correction.run_id]: part.counts
        for correction in epoch.corrections
        for part in correction.over_rounds
        if part.comparison == comparison.key and (part.low, part.high) == bounds
    }
