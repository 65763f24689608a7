"""Measured values of a finding by group, sampled for plots."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from statistics import fmean
from zlib import crc32

from pydantic import BaseModel

from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import (
    Diagnosis,
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
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.lookup import grouped
from biaswatch.shared.requests.run_sources import GroupValues
from biaswatch.shared.store import PlannedProbes, Store

MAX_PLOTTED_ANSWERS = 1200
"""Answers in a plotted distribution; for a larger run, those of some sets."""
CACHED_SUITES = 64
"""Suites whose sampled positions are cached."""


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
        measured = self._store.records.bodies_of(Features, about)
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
