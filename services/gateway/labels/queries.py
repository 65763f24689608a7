"""Reads samples, labels and corrections, and plans samples; it blocks, so call it in a thread."""

from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import asdict
from math import sqrt
from typing import Annotated

from fastapi import Query

from biaswatch.services.gateway.labels.texts import DrawnTexts, LabelledAnswer, columns_of
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.analysis.labels.drawing import dimension_of
from biaswatch.shared.analysis.labels.read_columns import ReadColumns, groups_of
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Correction,
    Label,
    LabelSample,
    Monitor,
    Run,
    SuiteOutline,
    labels_digest,
    standing_labels,
)
from biaswatch.shared.contracts.pair_verdict import JUDGES
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
TENTH = 0.1
"""Of the scale: an interval that is no wider says something."""
SIZES = (50, 100, 150, 300, 500)
CORRELATIONS = (0.0, 0.5, 0.7, 0.9)


class LabelQueries:
    """Reads what concerns labels of a run."""

    def __init__(self, store: Store, runs: RunQueries) -> None:
        self._store = store
        self._runs = runs
        self._texts = DrawnTexts(store)

    def samples(self, run_id: str) -> list[SampleProgress]:
        """Return the samples of a run, the latest last, and how far each is labelled."""
        return self._progress(self._runs.run(run_id).id, self.given(run_id))

    def of_run(self, run_id: str) -> tuple[list[SampleProgress], RunCorrections]:
        """Return the samples of a run and what its labels make of it; these are read once."""
        run = self._runs.run(run_id)
        labels = self.given(run.id)
        return self._progress(run.id, labels), self._corrections(run.id, labels)

    def sample(self, run_id: str, sample_id: str) -> SampleProgress:
        """Return one sample of a run, or raise NotFoundError."""
        for each in self.samples(run_id):
            if each.sample.id == sample_id:
                return each
        raise NotFoundError(f"The run {run_id} has no sample {sample_id}.")

    def suite_of(self, run_id: str) -> str:
        """Return what a run is called: the name of its suite."""
        return self._runs.run(run_id).suite

    def labels(self, run_id: str) -> list[StoredLabel]:
        """Return what people said last of each answer; what was taken back is left out."""
        run = self._runs.run(run_id)
        found = standing_labels(list(self._store.records.read(Label, run_id=run.id)))
        known = set(StoredLabel.model_fields)
        return [
            StoredLabel(**each.model_dump(include=known))
            for each in sorted(found, key=lambda label: (label.at, label.id))
        ]

    def given(self, run_id: str) -> list[Label]:
        """Return every label of a run, in the order of their ids."""
        return list(self._store.records.read(Label, run_id=run_id))

    def answer(self, sample: LabelSample, response_id: str) -> LabelledAnswer | None:
        """Return what is labelled: the question and the answer, and nothing of group or reading."""
        return self._texts.of(sample, [response_id]).get(response_id)

    def tasks(
        self, run_id: str, sample_id: str, asked: Annotated[TaskFilter, Query()]
    ) -> LabelTasks:
        """Return some of what a sample drew with its texts, in the order in which it is labelled.

        What a person needs who labels elsewhere: nothing of groups or readings. Texts are empty
        where the token may not read them, or where they were purged.
        """
        sample = self.sample(run_id, sample_id).sample
        end = asked.after + asked.limit
        ids = [each.response_id for each in sample.drawn[asked.after : end]]
        found, nothing = self._texts.of(sample, ids), LabelledAnswer("", "")
        shown = ((id_, found.get(id_, nothing)) for id_ in ids)
        return LabelTasks(
            tasks=[
                LabelTask(response_id=id_, question=each.asked, answer=each.answered)
                for id_, each in shown
            ],
            after=end if end < len(sample.drawn) else None,
        )

    def corrections(self, run_id: str) -> RunCorrections:
        """Return what labels make of a run's findings, by the latest state of them."""
        run = self._runs.run(run_id)
        labels = list(self._store.records.read(Label, run_id=run.id, texts=False))
        return self._corrections(run.id, labels)

    def _corrections(self, run_id: str, labels: list[Label]) -> RunCorrections:
        every = list(self._store.records.read(Correction, run_id=run_id, texts=False))
        if not any(each.sample_id for each in standing_labels(labels)):
            return RunCorrections(corrections=[], behind=False)
        ids = [each.id for each in labels]
        now = labels_digest(ids)
        newest = max((each.at for each in every), default=None)
        latest = [each for each in every if each.at == newest]
        current = [each for each in every if each.labels_hash == now] or latest
        known = {each.labels_hash for each in current}
        found = sorted(
            current, key=lambda e: (e.extractor, e.feature, e.target, e.scaffold, e.dimension)
        )
        return RunCorrections(corrections=found, behind=bool(ids) and known != {now})

    def plan(self, run_id: str, asked: Annotated[NumberRequest, Query()]) -> LabelPlan:
        """Return what labels of a number would bring, before any is made.

        Raises
        ------
        UsageError
            The run has no such number or grouping, or no readings of it.
        """
        run, outline = self.planned(run_id)
        extractor, feature = self.number(run, asked)
        with self.readings(run, outline, extractor, feature) as readings:
            dimension = dimension_of(readings.dimensions, asked.group)
            groups = groups_of(readings, dimension)
        spreads = [each.variance for each in groups.values() if each.variance is not None]
        if not spreads:
            raise UsageError(f"The run has no readings of {extractor}.{feature} by {dimension}.")
        spread = sqrt(sum(spreads) / len(spreads))
        answers = min(each.answers for each in groups.values())
        units = min(each.units for each in groups.values())
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
            groups={name: each.answers for name, each in groups.items()},
            spread=spread,
            by_readings=by_readings,
            units=units,
            repeats=answers / units,
            labels_for_a_tenth=labels_needed(TENTH, answers, units, ALPHA),
            lines=lines,
        )

    def planned(self, run_id: str) -> tuple[Run, SuiteOutline | None]:
        """Return a run whose answers can be drawn, and its suite; a window of traffic has none.

        Raises
        ------
        UsageError
            It is under way.
        """
        run = self._runs.run(run_id)
        outline = self._store.suites.outline(run.suite_hash)
        waiting = self._store.gathers(RUN_GATHER).look(run.id)
        if waiting is not None and waiting.closed_by is None:
            raise UsageError(f"The run {run_id} is under way. Draw once it has ended.")
        return run, outline

    def number(self, run: Run, asked: NumberRequest) -> tuple[str, str]:
        """Return the extractor and the feature that are meant.

        Raises
        ------
        UsageError
            The run has no such number, or several of that name.
        """
        known = {(each.name, each.version): each for each in self._store.extractors.ever()}
        pinned = [known.get((pin.name, pin.version)) for pin in run.extractors]
        every = [(each.name, name) for each in pinned if each for name in each.features]
        every += self._judged(run)
        found = [each for each in every if asked.feature in (each[1], ".".join(each))]
        names = ", ".join(sorted(".".join(each) for each in every)) or "none"
        if len(found) != 1:
            what = "no number" if not found else "several numbers"
            raise UsageError(f"The run has {what} named {asked.feature}. Measured are: {names}.")
        return found[0]

    def readings(
        self, run: Run, outline: SuiteOutline | None, extractor: str, feature: str
    ) -> AbstractContextManager[ReadColumns]:
        """Read the answers, or what is judged, that have a reading of a number, into a file."""
        return columns_of(self._store, run, outline, extractor, feature)

    def declared_scale(
        self, run: Run, outline: SuiteOutline | None, extractor: str, feature: str
    ) -> Bounds | None:
        """Return the scale of a number: the suite's, the monitor's, or that of judges."""
        if extractor in JUDGES:
            return 0.0, 1.0
        if outline is not None:
            return outline.header.ranges.get(feature)
        monitors = self._store.records.of_monitor(Monitor, run.monitor_id or "")
        watched = (each for monitor in monitors for each in monitor.plan.features)
        mine = (each for each in watched if (each.extractor, each.feature) == (extractor, feature))
        return next(((each.low, each.high) for each in mine), None)

    def _progress(self, run_id: str, labels: list[Label]) -> list[SampleProgress]:
        standing = standing_labels(labels)
        found = self._store.records.read(LabelSample, run_id=run_id)
        return [_progress(each, standing) for each in sorted(found, key=lambda sample: sample.at)]

    def _judged(self, run: Run) -> list[tuple[str, str]]:
        """Return the statements and dimensions that judges have said something of."""
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


def _progress(sample: LabelSample, standing: list[Label]) -> SampleProgress:
    mine = [
        each
        for each in standing
        if (each.extractor, each.feature) == (sample.extractor, sample.feature)
    ]
    said = {each.response_id for each in mine if each.value is not None}
    seen = {each.response_id for each in mine}
    labelled = Counter(each.stratum for each in sample.drawn if each.response_id in said)
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
        skipped=sum(each.response_id in seen - said for each in sample.drawn),
    )
