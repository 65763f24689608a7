"""Read samples, labels and corrections, and plan samples; it blocks, so call it in a thread."""

from collections import Counter
from dataclasses import asdict
from math import sqrt
from typing import Annotated

from fastapi import Query

from biaswatch.services.gateway.labels.texts import LabelledItem, LabelTexts, columns_of
from biaswatch.services.gateway.runs.queries import RunQueries, pinned_extractors
from biaswatch.shared.analysis.labels.drawing import dimension_of
from biaswatch.shared.analysis.labels.read_columns import groups_of
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Correction,
    Label,
    LabelSample,
    Monitor,
    Run,
    SuiteOutline,
    current_labels,
    labels_digest,
)
from biaswatch.shared.contracts.judged_items import JUDGES
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.requests.labels import (
    LabelledStratum,
    LabelPlan,
    LabelTask,
    LabelTasks,
    NumberRequest,
    PlanLine,
    RunCorrections,
    SampleProgress,
    StoredLabel,
    TaskFilter,
)
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.labels.sampling import labels_needed, planned_labels, widest_share
from biaswatch.shared.store import Store

ALPHA = 0.05
PLANNED_WIDTH = 0.1
"""Width of an informative interval, as a share of the scale."""
SIZES = (50, 100, 150, 300, 500)
CORRELATIONS = (0.0, 0.5, 0.7, 0.9)


class LabelQueries:
    """Queries of the labels of a run."""

    def __init__(self, store: Store, runs: RunQueries) -> None:
        self._store = store
        self._runs = runs
        self._texts = LabelTexts(store, runs)

    def samples(self, run_id: str) -> list[SampleProgress]:
        """Return the samples of a run, the latest last, with their progress."""
        return self._progress(self._runs.run(run_id).id, self.all_labels(run_id))

    def of_run(self, run_id: str) -> tuple[list[SampleProgress], RunCorrections]:
        """Return the samples and corrections of a run; its labels are read once."""
        run = self._runs.run(run_id)
        labels = self.all_labels(run.id)
        return self._progress(run.id, labels), self._corrections(run.id, labels)

    def sample(self, run_id: str, sample_id: str) -> SampleProgress:
        """Return one sample of a run, or raise NotFoundError."""
        for progress in self.samples(run_id):
            if progress.sample.id == sample_id:
                return progress
        raise NotFoundError(f"The run {run_id} has no sample {sample_id}.")

    def suite_of(self, run_id: str) -> str:
        """Return the name of a run's suite."""
        return self._runs.run(run_id).suite

    def labels(self, run_id: str) -> list[StoredLabel]:
        """Return the last label of each answer and person, without withdrawn ones."""
        run = self._runs.run(run_id)
        labels = current_labels(self.all_labels(run.id))
        fields = set(StoredLabel.model_fields)
        return [
            StoredLabel(**label.model_dump(include=fields))
            for label in sorted(labels, key=lambda label: (label.at, label.id))
        ]

    def all_labels(self, run_id: str) -> list[Label]:
        """Return every label of a run, in the order of their ids."""
        return list(self._store.records.read(Label, run_id=run_id))

    def answer(self, sample: LabelSample, response_id: str) -> LabelledItem | None:
        """Return the question and the answer to label, without groups and readings."""
        return self._texts.of(sample, [response_id]).get(response_id)

    def tasks(
        self, run_id: str, sample_id: str, page: Annotated[TaskFilter, Query()]
    ) -> LabelTasks:
        """Return items of a sample with their texts, in the order of labelling.

        They serve to label elsewhere and contain no groups or readings. Texts are empty if the
        token may not read them, or if they were purged.
        """
        sample = self.sample(run_id, sample_id).sample
        end = page.after + page.limit
        ids = [answer.response_id for answer in sample.drawn[page.after : end]]
        texts, purged = self._texts.of(sample, ids), LabelledItem("", "")
        items = ((id_, texts.get(id_, purged)) for id_ in ids)
        return LabelTasks(
            tasks=[
                LabelTask(response_id=id_, question=item.question, answer=item.answer)
                for id_, item in items
            ],
            after=end if end < len(sample.drawn) else None,
        )

    def corrections(self, run_id: str) -> RunCorrections:
        """Return a run's findings corrected by labels, by their latest state."""
        run = self._runs.run(run_id)
        labels = list(self._store.records.read(Label, run_id=run.id, texts=False))
        return self._corrections(run.id, labels)

    def _corrections(self, run_id: str, labels: list[Label]) -> RunCorrections:
        if not any(label.sample_id for label in current_labels(labels)):
            return RunCorrections(corrections=[], behind=False)
        corrections = list(self._store.records.read(Correction, run_id=run_id, texts=False))
        digest = labels_digest([label.id for label in labels])
        current = [record for record in corrections if record.labels_hash == digest]
        if not current:
            newest = max((record.at for record in corrections), default=None)
            current = [record for record in corrections if record.at == newest]
        current.sort(key=lambda c: (c.extractor, c.feature, c.target, c.scaffold, c.dimension))
        digests = {record.labels_hash for record in current}
        return RunCorrections(corrections=current, behind=bool(labels) and digests != {digest})

    def plan(self, run_id: str, number: Annotated[NumberRequest, Query()]) -> LabelPlan:
        """Return the precision that labels of a feature would give, by their number.

        Raises
        ------
        UsageError
            The run has no such feature or grouping, or no readings of it.
        """
        run, outline = self.closed_run(run_id)
        extractor, feature = self.feature(run, number)
        with columns_of(self._store, run, outline, extractor, feature) as readings:
            dimension = dimension_of(readings.dimensions, number.group)
            groups = groups_of(readings, dimension)
        variances = [group.variance for group in groups.values() if group.variance is not None]
        if not variances:
            raise UsageError(f"The run has no readings of {extractor}.{feature} by {dimension}.")
        spread = sqrt(sum(variances) / len(variances))
        answers = min(group.answers for group in groups.values())
        units = min(group.units for group in groups.values())
        lines = [
            PlanLine(
                **asdict(planned_labels(spread, answers, n, correlation, ALPHA)),
                widest_share=widest_share(answers, units, n, ALPHA),
            )
            for n in SIZES
            if n <= answers
            for correlation in CORRELATIONS
        ]
        by_readings = planned_labels(spread, answers, answers, 1.0, ALPHA).half_width
        return LabelPlan(
            extractor=extractor,
            feature=feature,
            dimension=dimension,
            groups={name: group.answers for name, group in groups.items()},
            spread=spread,
            by_readings=by_readings,
            units=units,
            repeats=answers / units,
            labels_for_a_tenth=labels_needed(PLANNED_WIDTH, answers, units, ALPHA),
            lines=lines,
        )

    def closed_run(self, run_id: str) -> tuple[Run, SuiteOutline | None]:
        """Return a closed run and its suite; a window of traffic has none.

        Raises
        ------
        UsageError
            It is under way.
        """
        run = self._runs.run(run_id)
        outline = self._store.suites.outline(run.suite_hash)
        waiting = self._store.gathers(RUN_GATHER).state(run.id)
        if waiting is not None and waiting.closed_by is None:
            raise UsageError(f"The run {run_id} is under way. Draw once it has ended.")
        return run, outline

    def feature(self, run: Run, number: NumberRequest) -> tuple[str, str]:
        """Return the extractor and the feature that a request names.

        Raises
        ------
        UsageError
            The run has no such feature, or several of that name.
        """
        pinned = pinned_extractors(self._store, run)
        measured = [
            (pin.name, feature) for pin, status in pinned if status for feature in status.features
        ]
        measured += self._judged(run)
        matches = [name for name in measured if number.feature in (name[1], ".".join(name))]
        if len(matches) != 1:
            what = "several numbers" if matches else "no number"
            names = ", ".join(sorted(map(".".join, measured))) or "none"
            raise UsageError(f"The run has {what} named {number.feature}. Measured are: {names}.")
        return matches[0]

    def declared_scale(
        self, run: Run, outline: SuiteOutline | None, extractor: str, feature: str
    ) -> Bounds | None:
        """Return the scale of a feature: of the suite, of the monitor, or of judges."""
        if extractor in JUDGES:
            return 0.0, 1.0
        if outline is not None:
            return outline.header.known_ranges.get(feature)
        monitors = self._store.records.of_monitor(Monitor, run.monitor_id or "")
        for watched in (watched for monitor in monitors for watched in monitor.plan.features):
            if (watched.extractor, watched.feature) == (extractor, feature):
                return watched.low, watched.high
        return None

    def _progress(self, run_id: str, labels: list[Label]) -> list[SampleProgress]:
        labels_now = current_labels(labels)
        samples = self._store.records.read(LabelSample, run_id=run_id)
        return [_progress(sample, labels_now) for sample in sorted(samples, key=lambda s: s.at)]

    def _judged(self, run: Run) -> list[tuple[str, str]]:
        """Return the statements and dimensions that judges have voted on."""
        return [
            (instrument, name)
            for instrument in JUDGES
            for name in sorted(
                {
                    name
                    for item in self._store.judged_items.of_run(run.id, instrument)
                    for name in item.readings
                }
            )
        ]


def _progress(sample: LabelSample, latest: list[Label]) -> SampleProgress:
    labels = [
        label
        for label in latest
        if (label.extractor, label.feature) == (sample.extractor, sample.feature)
    ]
    with_value = {label.response_id for label in labels if label.value is not None}
    skipped = {label.response_id for label in labels} - with_value
    labelled = Counter(
        answer.stratum for answer in sample.drawn if answer.response_id in with_value
    )
    return SampleProgress(
        sample=sample,
        strata=[
            LabelledStratum(
                **stratum.model_dump(include={"target", "scaffold", "group", "answers", "drawn"}),
                labelled=labelled[number],
            )
            for number, stratum in enumerate(sample.strata)
        ],
        labelled=labelled.total(),
        skipped=sum(answer.response_id in skipped for answer in sample.drawn),
    )
