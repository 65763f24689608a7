"""Adds the labels of a monitor's round to those of its other rounds of the same epoch."""

from collections.abc import Iterator, Sequence

from services.diagnoser.domain.labels.labelled_rows import Case
from services.diagnoser.domain.labels.running_gaps import Counts, round_counts, summed_rounds
from shared.contracts import (
    MISSING,
    Comparison,
    CorrectedGap,
    Correction,
    Label,
    LabelSample,
    Monitor,
    Round,
    Run,
    standing_labels,
)
from shared.store import Store


class LabelledRounds:
    """Knows what the labels of other rounds of a monitor have added, from their corrections."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def added(
        self,
        found: Sequence[Correction],
        run: Run,
        cases: Sequence[Case],
        samples: Sequence[LabelSample],
        labels: Sequence[Label],
    ) -> list[Correction]:
        """Return corrections of a round with what all labelled rounds of its epoch show.

        Each watched comparison has an equal share of the monitor's alpha, beside what its evidence
        by readings spends.
        """
        monitor = self._monitor(run)
        if monitor is None:
            return list(found)
        others = list(self._others(run))
        return [
            each.model_copy(
                update={
                    "gaps": tuple(
                        self._gap(each, gap, monitor, cases, samples, labels, others)
                        for gap in each.gaps
                    )
                }
            )
            for each in found
        ]

    def _gap(
        self,
        correction: Correction,
        gap: CorrectedGap,
        monitor: Monitor,
        cases: Sequence[Case],
        samples: Sequence[LabelSample],
        labels: Sequence[Label],
        others: Sequence[Correction],
    ) -> CorrectedGap:
        watched = _watched(monitor, correction, gap)
        number = correction.extractor, correction.feature
        mine = [each for each in samples if (each.extractor, each.feature) == number]
        if watched is None or not mine:
            return gap
        sample = max(mine, key=lambda each: each.wanted)
        said = [e for e in standing_labels(list(labels)) if (e.extractor, e.feature) == number]
        counts = round_counts(cases, sample, said, watched)
        if not counts:
            return gap
        every = [counts, *_counts_in(others, correction, gap)]
        level = monitor.plan.alpha / len(monitor.plan.watched)
        running = summed_rounds(every, watched, (sample.low, sample.high), level)
        return gap.model_copy(update={"counts": counts, "running": running})

    def _monitor(self, run: Run) -> Monitor | None:
        found = self._store.records.of_monitor(Monitor, run.monitor_id) if run.monitor_id else ()
        return max(found, key=lambda monitor: monitor.moment_ms, default=None)

    def _others(self, run: Run) -> Iterator[Correction]:
        """Return the last corrections of the other rounds of a round's epoch."""
        rounds = list(self._store.records.of_monitor(Round, run.monitor_id or ""))
        epoch = next((each.epoch for each in rounds if each.run_id == run.id), None)
        ids = [each.run_id for each in rounds if each.epoch == epoch and each.run_id != run.id]
        last: dict[tuple[str, ...], Correction] = {}
        for each in self._store.records.of_runs(Correction, ids):
            key = (each.run_id, each.target, each.extractor, each.feature, each.dimension)
            if key not in last or (each.at, each.labels) > (last[key].at, last[key].labels):
                last[key] = each
        yield from last.values()


def _watched(monitor: Monitor, correction: Correction, gap: CorrectedGap) -> Comparison | None:
    for each in monitor.plan.watched:
        about, pair = each.watched, each.pair
        if (
            (about.extractor, about.feature) == (correction.extractor, correction.feature)
            and (pair.dimension, pair.a, pair.b) == (correction.dimension, gap.a, gap.b)
            and about.feature != MISSING
            and not about.method.of_selections
        ):
            return each
    return None


def _counts_in(
    others: Sequence[Correction], correction: Correction, gap: CorrectedGap
) -> Iterator[Counts]:
    number = (correction.extractor, correction.feature, correction.dimension)
    for each in others:
        if (each.extractor, each.feature, each.dimension) == number:
            yield from (g.counts for g in each.gaps if (g.a, g.b) == (gap.a, gap.b) and g.counts)
