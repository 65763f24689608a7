"""Reads what was measured of a run's answers, answer by answer, as statistics need it."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated

from pydantic import Field

from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Features, Probe, Run, SuiteOutline, features_id_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.measurements import (
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
