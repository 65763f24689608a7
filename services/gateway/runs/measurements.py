"""Measured values of a run, by answer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated

from pydantic import Field

from biaswatch.services.gateway.runs.queries import RunQueries, pinned_extractors
from biaswatch.shared.contracts import (
    ExtractorPin,
    Features,
    Probe,
    Run,
    SuiteOutline,
    features_id_of,
)
from biaswatch.shared.errors import UsageError
from biaswatch.shared.lookup import grouped
from biaswatch.shared.parsing.texts import truth_of
from biaswatch.shared.requests.exports import (
    AnswerMeasurements,
    DeclaredAnalysis,
    Measurement,
    PinnedExtractor,
)
from biaswatch.shared.store import PlannedProbes, Store

MAX_LINES = 2**31 - 1
BATCH_PROBES = 500
NOT_ARRIVED = "did not arrive"


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
