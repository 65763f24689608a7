"""Reads some values of a finding by group, of which the spread of answers is drawn."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from zlib import crc32

from pydantic import BaseModel

from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import (
    Diagnosis,
    Features,
    Probe,
    Run,
    SuiteOutline,
    SuiteProbe,
    features_id_of,
    probe_of,
)
from biaswatch.shared.contracts.expansion import set_of
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.store import PlannedProbes, Store

MOST_VALUES = 1200
"""Answers of which a spread is drawn; of a larger run, those of some sets drawn by their names."""
SUITES_KNOWN = 64
"""Suites whose drawn positions are remembered."""


class GroupValues(BaseModel):
    """Values of one number by group, of so many answers among all."""

    values: dict[str, list[float]]
    answers: int
    of: int


class GroupValueQueries:
    """Reads values of findings; it blocks, so call it in a thread."""

    def __init__(self, store: Store, runs: RunQueries) -> None:
        self._store = store
        self._runs = runs
        self._positions = lru_cache(SUITES_KNOWN)(self._drawn_positions)

    def of_finding(self, run_id: str, diagnosis_id: str) -> GroupValues:
        """Return values of a finding's number by group, of 1,200 answers at most.

        Raises
        ------
        NotFoundError
            There is no such run, or it has no such finding.
        """
        for each in self._runs.diagnoses(run_id):
            if each.id == diagnosis_id:
                return self.values(self._runs.run(run_id), each)
        raise NotFoundError(f"The run {run_id} has no finding {diagnosis_id}.")

    def values(self, run: Run, diagnosis: Diagnosis) -> GroupValues:
        """Return values of a finding's number by group; none of traffic and of the archive."""
        of = sum(group.responses for group in diagnosis.groups)
        outline = self._store.suites.outline(run.suite_hash)
        if outline is None or self._store.archived_runs.find(run.id):
            return GroupValues(values={}, answers=0, of=of)
        asked: dict[str, str] = {}
        group_of: dict[str, str] = {}
        for pin in run.extractors:
            if pin.name == diagnosis.extractor:
                for probe in self._probes(run, outline, diagnosis):
                    asked[features_id_of(probe, pin.name, pin.version)] = probe.id
                    group_of[probe.id] = probe.groups[diagnosis.dimension]
        found: dict[str, list[float]] = {}
        for each in self._store.records.get(Features, asked, texts=False):
            value = each.values.get(diagnosis.feature)
            if value is not None:
                found.setdefault(group_of[each.probe_id], []).append(value)
        return GroupValues(values=found, answers=len(asked), of=of)

    def _probes(self, run: Run, outline: SuiteOutline, diagnosis: Diagnosis) -> Iterator[Probe]:
        most = max(1, MOST_VALUES // run.repeats)
        for target in run.targets:
            if target.name == diagnosis.target:
                for place, item in self._items(run, outline, diagnosis.dimension, most):
                    for repeat in range(run.repeats):
                        yield probe_of(
                            *(
                                run,
                                outline.header,
                                item,
                                target,
                                diagnosis.scaffold,
                                repeat,
                                run.at,
                            ),
                            position=place,
                        )

    def _drawn_positions(self, hash_: str, most: int) -> tuple[int, ...]:
        """Return the positions of some sets; a suite is gone through once, for it never changes."""
        return tuple(sorted(_some_sets(list(self._store.suites.sets(hash_)), most)))

    def _items(
        self, run: Run, outline: SuiteOutline, dimension: str, most: int
    ) -> list[tuple[int, SuiteProbe]]:
        """Return questions about a dimension: of a large suite, those of some sets."""
        if run.sets is None and outline.probes > most:
            positions = self._positions(outline.hash, most)
            found = self._store.suites.probes(outline.hash, positions)
            items: list[tuple[int, SuiteProbe]] = list(zip(positions, found, strict=True))
        else:
            items = list(PlannedProbes(self._store.suites, outline, run).items())
        about = [each for each in items if dimension in each[1].groups]
        return about if len(about) <= most else _of_some_sets(about, most)


def _of_some_sets(
    items: Sequence[tuple[int, SuiteProbe]], most: int
) -> list[tuple[int, SuiteProbe]]:
    chosen = _some_sets([(n, set_of(each)) for n, (_, each) in enumerate(items)], most)
    return [items[n] for n in chosen]


def _some_sets(named: Sequence[tuple[int, str]], most: int) -> list[int]:
    """Return the positions of whole sets, drawn by their names, until there are enough."""
    sets: dict[str, list[int]] = {}
    for position, name in named:
        sets.setdefault(name, []).append(position)
    chosen: list[int] = []
    for name in sorted(sets, key=lambda one: crc32(one.encode())):
        if chosen and len(chosen) + len(sets[name]) > most:
            break
        chosen += sets[name]
    return chosen
