"""What was measured of a run's answers, as its suite plans them; and how they are analysed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from biaswatch.services.diagnoser.domain.shared_values import SharedValues
from biaswatch.shared.analysis.findings import AnalysisPlan, MeasuredResponse
from biaswatch.shared.contracts import (
    Features,
    Probe,
    Response,
    Run,
    SuiteHeader,
    SuiteOutline,
    features_id_of,
    response_id_of,
)
from biaswatch.shared.errors import TransientError
from biaswatch.shared.store import PlannedProbes, Store

CRITERION = "criterion:"
"""How a scaffold's step is named that judges one criterion."""
AT_ONCE = 500
"""Probes whose records are in memory together."""
NOT_ARRIVED = "did not arrive before the run closed"


def declared_plan(plan: AnalysisPlan, suite: SuiteHeader, store: Store) -> AnalysisPlan:
    """Return how a run is analysed: the service's own levels, and what its suite declares."""
    return replace(
        plan,
        features=suite.features,
        measured={each.name: each.features for each in store.extractors.ever()},
        selected_at_least=suite.selected_at_least,
        assessed=suite.assessed,
        claim=suite.claim,
        ranges=suite.ranges,
        against=suite.compared,
    )


class RunCases:
    """Reads the answers of runs, with what each extractor measured."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, run: Run, suite: SuiteOutline) -> Iterator[tuple[str, MeasuredResponse]]:
        """Return every planned case with the id of its response: absence is counted by group.

        The store is read some probes at a time, and what cases have in common is kept once.
        """
        header, shared = suite.header, SharedValues()
        probes = PlannedProbes(self._store.suites, suite, run).read(run.at)
        while some := list(islice(probes, AT_ONCE)):
            ids = {
                (probe.id, pin.name): features_id_of(probe, pin.name, pin.version)
                for probe in some
                for pin in run.extractors
            }
            found = self._store.records.numbers_of(Features, ids.values())
            criteria = self._criteria(some, found.values()) if header.assessed else {}
            for probe in some:
                id_ = response_id_of(probe)
                for pin in run.extractors:
                    features = found.get(ids[probe.id, pin.name])
                    case = MeasuredResponse(
                        target=probe.target.name,
                        scaffold=probe.scaffold,
                        unit=probe.unit_id,
                        set=probe.set_id,
                        groups=shared.words(header.groups_of(probe)),
                        extractor=pin.name,
                        values=shared.numbers(features["values"] if features else {}),
                        why_missing=features.get("unscorable") if features else NOT_ARRIVED,
                        expected=probe.expected,
                        criteria=shared.numbers(criteria.get(probe.id, {})),
                        strata=shared.words(header.strata_of(probe)),
                    )
                    yield id_, case

    def _criteria(
        self, probes: Sequence[Probe], measured: Iterable[Mapping[str, Any]]
    ) -> dict[str, dict[str, float | None]]:
        """Return, by probe, what a scaffold gave for each criterion."""
        found: dict[str, dict[str, float | None]] = {}
        stored = set()
        ids = [response_id_of(probe) for probe in probes]
        for response in self._store.records.get(Response, ids, texts=False):
            stored.add(response.id)
            found[response.probe_id] = {
                step.name.removeprefix(CRITERION): step.rating
                for step in response.steps
                if step.name.startswith(CRITERION)
            }
        if {each["response_id"] for each in measured} - stored:
            raise TransientError(
                "Responses of the run are not in the store yet.", retry_after_s=0.2
            )
        return found
