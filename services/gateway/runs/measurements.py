"""Measured values of a run: by answer, and by group."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Annotated
from zlib import crc32

from pydantic import BaseModel, Field

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
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.requests.exports import (
    AnswerMeasurements,
    DeclaredAnalysis,
    Measurement,
    PinnedExtractor,
)
from biaswatch.shared.store import PlannedProbes, Store

MOST_LINES = 2**31 - 1
AT_ONCE = 500
"""Answers that are in memory at the same time."""
NOT_ARRIVED = "did not arrive"


class MeasurementQueries:
    """Reads measurements; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs = RunQueries(store)

    def analysis(self, run_id: str) -> DeclaredAnalysis:
        """Return how a run is to be analysed, as its suite declares, and of how many answers."""
        run, outline, planned = self._planned(run_id)
        suite = outline.header
        finding = next(iter(self._runs.diagnoses(run_id)), None)
        return DeclaredAnalysis(
            run_id=run.id,
            suite=run.suite,
            claim=suite.claim,
            features=list(suite.features),
            selected_at_least=suite.selected_at_least,
            ranges=suite.ranges,
            compared=suite.compared,
            strata=list(suite.strata),
            extractors=self._extractors(run),
            targets=[target.name for target in run.targets],
            scaffolds=list(run.scaffolds),
            answers=planned.amount(len(run.targets)),
            alpha=finding.alpha if finding else None,
            tolerance=finding.tolerance if finding else None,
        )

    def pages(
        self,
        run_id: str,
        offset: Annotated[int, Field(ge=0, le=MOST_LINES)] = 0,
        limit: Annotated[int | None, Field(ge=1, le=MOST_LINES)] = None,
    ) -> Iterator[list[AnswerMeasurements]]:
        """Return the measurements of a run from the `offset` on, `limit` at most, in parts.

        Raises
        ------
        NotFoundError
            There is no such run.
        UsageError
            The run is a window of traffic, which has no plan that names its answers.
        """
        run, _, planned = self._planned(run_id)
        probes = islice(planned.read(run.at, first=offset), limit)
        return self._measured(run, probes)

    def _planned(self, run_id: str) -> tuple[Run, SuiteOutline, PlannedProbes]:
        run = self._runs.run(run_id)
        suite = self._store.suites.outline(run.suite_hash)
        if suite is None:
            raise UsageError(
                f"The run {run_id} is a window of production traffic, which has no suite."
                " `biaswatch monitor windows` describes it."
            )
        return run, suite, PlannedProbes(self._store.suites, suite, run)

    def _extractors(self, run: Run) -> list[PinnedExtractor]:
        known = {(each.name, each.version): each for each in self._store.extractors.ever()}
        found = [(pin, known.get((pin.name, pin.version))) for pin in run.extractors]
        return [
            PinnedExtractor(
                name=pin.name, version=pin.version, features=list(status.features if status else ())
            )
            for pin, status in found
        ]

    def _measured(self, run: Run, probes: Iterator[Probe]) -> Iterator[list[AnswerMeasurements]]:
        while some := list(islice(probes, AT_ONCE)):
            ids = {
                (probe.id, pin.name): features_id_of(probe, pin.name, pin.version)
                for probe in some
                for pin in run.extractors
            }
            found = {each.id: each for each in self._store.records.get(Features, ids.values())}
            yield [
                _answer(probe, {p.name: found.get(ids[probe.id, p.name]) for p in run.extractors})
                for probe in some
            ]


def _answer(probe: Probe, found: Mapping[str, Features | None]) -> AnswerMeasurements:
    return AnswerMeasurements(
        key=probe.key,
        target=probe.target.name,
        scaffold=probe.scaffold,
        repeat=probe.repeat,
        unit=probe.unit_id,
        set=probe.set_id,
        groups=probe.groups,
        facts=probe.facts,
        measured={name: _measurement(features) for name, features in found.items()},
    )


def _measurement(features: Features | None) -> Measurement:
    if features is None:
        return Measurement(missing=NOT_ARRIVED)
    return Measurement(
        values=features.values, baseline=features.baseline, missing=features.unscorable
    )


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
