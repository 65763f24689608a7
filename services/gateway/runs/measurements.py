"""Measured values of a run: by answer, and by group."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from statistics import fmean
from typing import Annotated
from zlib import crc32

from pydantic import BaseModel, Field

from biaswatch.services.gateway.runs.queries import RunQueries, pinned_extractors
from biaswatch.shared.contracts import (
    Diagnosis,
    ExtractorPin,
    Features,
    Probe,
    Run,
    SuiteHeader,
    SuiteOutline,
    SuiteProbe,
    features_id_of,
    probe_of,
    set_of,
)
from biaswatch.shared.contracts.derived_features import value_among, without_level
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.lookup import grouped
from biaswatch.shared.parsing.texts import truth_of
from biaswatch.shared.requests.exports import (
    AnswerMeasurements,
    DeclaredAnalysis,
    Measurement,
    PinnedExtractor,
)
from biaswatch.shared.requests.run_sources import GroupValues
from biaswatch.shared.store import PlannedProbes, Store

MAX_LINES = 2**31 - 1
BATCH_PROBES = 500
NOT_ARRIVED = "did not arrive"
MAX_PLOTTED_ANSWERS = 1200
"""Answers in a plotted distribution; for a larger run, those of some sets."""
CACHED_SUITES = 64
"""Suites whose sampled positions are cached."""


MeasuredProbe = tuple[Probe, dict[str, Features | None]]
"""A probe, and the features of its answer by extractor; None for missing ones."""


def measured_batches(
    store: Store, probes: Iterator[Probe], pins: Sequence[ExtractorPin]
) -> Iterator[list[MeasuredProbe]]:
    """Yield probes with the features of some extractors, with one query per batch; it blocks."""
    while batch := list(islice(probes, BATCH_PROBES)):
        ids = {
            (probe.id, pin.name): features_id_of(probe, pin.name, pin.version)
            for probe in batch
            for pin in pins
        }
        stored = {features.id: features for features in store.records.get(Features, ids.values())}
        yield [
            (probe, {pin.name: stored.get(ids[probe.id, pin.name]) for pin in pins})
            for probe in batch
        ]


def features_by_response(
    store: Store, response_ids: Iterable[str], **equal: str
) -> dict[str, list[Features]]:
    """Return the features of some responses, with certain values in their columns; it blocks."""
    return grouped(
        (features.response_id, features)
        for features in store.records.by_key(Features, "response_id", response_ids, **equal)
    )


class MeasurementQueries:
    """Blocking queries of measurements; call them in a thread."""

    def __init__(self, store: Store, runs: RunQueries) -> None:
        self._store = store
        self._runs = runs

    def analysis(self, run_id: str) -> DeclaredAnalysis:
        """Return the analysis that the suite declares, and the number of answers."""
        run, outline, planned = self._planned(run_id)
        suite = outline.header
        finding = next(iter(self._runs.diagnoses(run_id)), None)
        return DeclaredAnalysis(
            run_id=run.id,
            suite=run.suite,
            claim=suite.claim,
            features=list(suite.features),
            selected_at_least=suite.selected_at_least,
            error_rates=list(suite.error_rates),
            ranges=dict(suite.known_ranges),
            scale=dict(suite.scale),
            compared=suite.compared,
            random=list(suite.random),
            strata=list(suite.strata),
            gaps_by=list(suite.gaps_by),
            extractors=[
                PinnedExtractor(
                    name=pin.name,
                    version=pin.version,
                    features=list(status.features) if status else [],
                )
                for pin, status in pinned_extractors(self._store, run)
            ],
            targets=[target.name for target in run.targets],
            scaffolds=list(run.scaffolds),
            answers=planned.amount(len(run.targets)),
            alpha=finding.alpha if finding else None,
            tolerance=finding.tolerance if finding else None,
        )

    def pages(
        self,
        run_id: str,
        offset: Annotated[int, Field(ge=0, le=MAX_LINES)] = 0,
        limit: Annotated[int | None, Field(ge=1, le=MAX_LINES)] = None,
    ) -> Iterator[list[AnswerMeasurements]]:
        """Return the measurements of a run from an offset on, in batches.

        Raises
        ------
        NotFoundError
            The run does not exist.
        UsageError
            The run is a window of traffic, which has no plan.
        """
        run, _, planned = self._planned(run_id)
        probes = islice(planned.read(run.at, first=offset), limit)
        batches = measured_batches(self._store, probes, run.extractors)
        return ([_measurements_of(*answer) for answer in batch] for batch in batches)

    def _planned(self, run_id: str) -> tuple[Run, SuiteOutline, PlannedProbes]:
        run = self._runs.run(run_id)
        outline = self._store.suites.outline(run.suite_hash)
        if outline is None:
            raise UsageError(
                f"The run {run_id} is a window of production traffic, which has no suite."
                " `biaswatch monitor show` describes it."
            )
        return run, outline, PlannedProbes(self._store.suites, outline, run)


def _measurements_of(probe: Probe, measured: Mapping[str, Features | None]) -> AnswerMeasurements:
    return AnswerMeasurements(
        key=probe.key,
        target=probe.target.name,
        scaffold=probe.scaffold,
        repeat=probe.repeat,
        unit=probe.unit_id,
        set=probe.set_id,
        groups=probe.groups,
        stimuli=probe.stimuli,
        facts=probe.facts,
        truth=truth_of(probe.expected),
        measured={name: _measurement(features) for name, features in measured.items()},
    )


def _measurement(features: Features | None) -> Measurement:
    if features is None:
        return Measurement(missing=NOT_ARRIVED)
    return Measurement(
        values=features.values, baseline=features.baseline, missing=features.unscorable
    )


class SetGap(BaseModel):
    """The two groups of a set that lie furthest apart, by their means."""

    set_id: str
    high: str
    low: str
    gap: float


class GroupValueQueries:
    """Blocking queries of values by group; call them in a thread."""

    def __init__(self, store: Store, runs: RunQueries) -> None:
        self._store = store
        self._runs = runs
        self._positions = lru_cache(CACHED_SUITES)(self._sampled_positions)

    def of_finding(self, run_id: str, diagnosis_id: str) -> GroupValues:
        """Return values of a finding by group, of at most 1,200 answers.

        Raises
        ------
        NotFoundError
            The run or the finding does not exist.
        """
        for diagnosis in self._runs.diagnoses(run_id):
            if diagnosis.id == diagnosis_id:
                return self.values(self._runs.run(run_id), diagnosis)
        raise NotFoundError(f"The run {run_id} has no finding {diagnosis_id}.")

    def values(self, run: Run, diagnosis: Diagnosis) -> GroupValues:
        """Return values of a finding by group; empty for traffic and archived runs."""
        return self.with_set_gaps(run, diagnosis, 0)[0]

    def with_set_gaps(
        self, run: Run, diagnosis: Diagnosis, most: int
    ) -> tuple[GroupValues, list[SetGap]]:
        """Return values of a finding by group, and the largest gaps within sets."""
        total = sum(group.responses for group in diagnosis.groups)
        outline = self._store.suites.outline(run.suite_hash)
        if outline is None or self._store.archived_runs.find(run.id):
            return GroupValues(values={}, answers=0, of=total), []
        values: dict[str, list[float]] = {}
        sets: dict[str, dict[str, list[float]]] = {}
        answers = 0
        for set_id, group, value in self._measured(run, outline, diagnosis):
            answers += 1
            if value is not None:
                values.setdefault(group, []).append(value)
                sets.setdefault(set_id or "", {}).setdefault(group, []).append(value)
        sets.pop("", None)
        return GroupValues(values=values, answers=answers, of=total), _largest_gaps(sets, most)

    def _measured(
        self, run: Run, outline: SuiteOutline, diagnosis: Diagnosis
    ) -> Iterator[tuple[str | None, str, float | None]]:
        """Yield the set, the group and the value of the plotted answers of a finding."""
        about: dict[str, tuple[str | None, str, str]] = {}
        """By id: set and group, and the name under which the feature was measured."""
        for pin in run.extractors:
            if pin.name == diagnosis.extractor:
                for probe in self._probes(run, outline, diagnosis):
                    id_ = features_id_of(probe, pin.name, pin.version)
                    name = _measured_name(outline.header, probe, diagnosis.feature)
                    about[id_] = probe.set_id, probe.groups[diagnosis.dimension], name
        measured = self._store.records.numbers_of(Features, about)
        for id_, (set_id, group, name) in about.items():
            values = measured[id_]["values"] if id_ in measured else {}
            yield set_id, group, value_among(values, name)

    def _probes(self, run: Run, outline: SuiteOutline, diagnosis: Diagnosis) -> Iterator[Probe]:
        most = max(1, MAX_PLOTTED_ANSWERS // run.repeats)
        for target in run.targets:
            if target.name != diagnosis.target:
                continue
            for position, item in self._items(run, outline, diagnosis.dimension, most):
                for repeat in range(run.repeats):
                    yield probe_of(
                        run,
                        outline.header,
                        item,
                        target,
                        diagnosis.scaffold,
                        repeat,
                        run.at,
                        position=position,
                    )

    def _sampled_positions(self, suite_hash: str, most: int) -> tuple[int, ...]:
        """Return the positions of some sets of a suite; cached, as a suite never changes."""
        return tuple(sorted(_sampled_sets(self._store.suites.sets(suite_hash), most)))

    def _items(
        self, run: Run, outline: SuiteOutline, dimension: str, most: int
    ) -> list[tuple[int, SuiteProbe]]:
        """Return the questions of a dimension; of a large suite, those of some sets."""
        if run.sets is None and outline.probes > most:
            positions = self._positions(outline.hash, most)
            probes = self._store.suites.probes(outline.hash, positions)
            items = list(zip(positions, probes, strict=True))
        else:
            items = list(PlannedProbes(self._store.suites, outline, run).items())
        items = [(position, item) for position, item in items if dimension in item.groups]
        if len(items) <= most:
            return items
        named = ((number, set_of(item)) for number, (_, item) in enumerate(items))
        return [items[number] for number in _sampled_sets(named, most)]


def _measured_name(suite: SuiteHeader, probe: Probe, feature: str) -> str:
    """Return the name under which a feature, perhaps within a stratum, was measured."""
    if not suite.gaps_by:
        return feature
    strata = suite.strata_of(probe)
    return without_level(feature, [strata[name] for name in suite.gaps_by if name in strata])


def _largest_gaps(sets: Mapping[str, Mapping[str, list[float]]], most: int) -> list[SetGap]:
    gaps = []
    for set_id, groups in sets.items():
        means = {group: fmean(values) for group, values in groups.items()}
        high, low = (choose(means, key=means.__getitem__) for choose in (max, min))
        if (gap := means[high] - means[low]) > 0:
            gaps.append(SetGap(set_id=set_id, high=high, low=low, gap=gap))
    return sorted(gaps, key=lambda row: (-row.gap, row.set_id))[:most]


def _sampled_sets(named: Iterable[tuple[int, str]], most: int) -> list[int]:
    """Return the positions of whole sets, in the order of a hash of their names."""
    sets = grouped((name, position) for position, name in named)
    sampled: list[int] = []
    for name in sorted(sets, key=lambda name: crc32(name.encode())):
        if sampled and len(sampled) + len(sets[name]) > most:
            break
        sampled += sets[name]
    return sampled
