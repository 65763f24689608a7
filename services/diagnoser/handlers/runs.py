"""Diagnoses closed runs: reads the store once and returns their diagnoses and assessments."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np

from services.diagnoser.domain.findings import (
    AnalysisPlan,
    MeasuredResponse,
    RunFinding,
    StratumDescription,
    assess,
    describe_strata,
    diagnose,
    with_own_gaps,
)
from services.diagnoser.domain.shared_values import SharedValues
from shared.contracts import (
    Assessment,
    Claim,
    Completion,
    Diagnosis,
    Features,
    Probe,
    Record,
    Response,
    Run,
    SuiteOutline,
    Verdict,
    features_id_of,
    response_id_of,
)
from shared.errors import PoisonError, TransientError
from shared.store import PlannedProbes, Store
from shared.telemetry import COMPARISONS

CLAIMS = {
    Claim.POPULATION: "the population these prompts were drawn from; the prompt is the unit",
    Claim.BANK: "these prompts alone; each answer is a unit",
}
CRITERION = "criterion:"
"""How a scaffold's step is named that judges one criterion."""
AT_ONCE = 500
"""Probes whose records are in memory together."""
NOT_ARRIVED = "did not arrive before the run closed"


class DiagnoseRun:
    """Diagnoses runs."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], plan: AnalysisPlan) -> None:
        self._store = store
        self._now = now
        self._plan = plan
        for verdict in Verdict:
            # Start each counter at 0, or Prometheus sees no increase at its first comparison.
            COMPARISONS.labels(verdict)

    def __call__(self, completion: Completion, run: Run) -> Sequence[Record]:
        """Return the diagnoses and assessments of a run that has closed."""
        outline = self._store.suites.outline(run.suite_hash)
        if outline is None:
            raise PoisonError(f"The suite {run.suite} ({run.suite_hash}) is not in the store.")
        suite = outline.header
        plan = replace(
            self._plan,
            features=suite.features,
            measured={each.name: each.features for each in self._store.extractors.ever()},
            selected_at_least=suite.selected_at_least,
            assessed=suite.assessed,
            claim=suite.claim,
            ranges=suite.ranges,
            against=suite.compared,
        )
        cases = list(self._cases(run, outline))
        # Seeded by the run, so that a second diagnosis draws the same labels.
        rng = np.random.default_rng(int(run.id, 16))
        found = [self._with_own_gaps(each, run) for each in diagnose(cases, plan, rng)]
        for gap in (gap for finding in found for gap in finding.gaps):
            COMPARISONS.labels(gap.verdict).inc()
        strata = describe_strata(cases, plan)
        more = assess(cases, plan, rng) if plan.assessed else []
        together = len(found) + len(strata) + len(more)
        return [
            *(self._diagnosis(completion, finding, plan, together) for finding in found),
            *(self._description(completion, stratum, plan, together) for stratum in strata),
            *(Assessment(**self._head(completion, plan), **vars(each)) for each in more),
        ]

    def _cases(self, run: Run, suite: SuiteOutline) -> Iterator[MeasuredResponse]:
        """Return every planned case, also where no answer came: absence is counted by group.

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
            found = {each.id: each for each in self._store.records.get(Features, ids.values())}
            criteria = self._criteria(some, found.values()) if header.assessed else {}
            for probe in some:
                for pin in run.extractors:
                    features = found.get(ids[probe.id, pin.name])
                    yield MeasuredResponse(
                        target=probe.target.name,
                        scaffold=probe.scaffold,
                        unit=probe.unit_id,
                        set=probe.set_id,
                        groups=shared.words(header.groups_of(probe)),
                        extractor=pin.name,
                        values=shared.numbers(features.values if features else {}),
                        why_missing=features.unscorable if features else NOT_ARRIVED,
                        expected=probe.expected,
                        criteria=shared.numbers(criteria.get(probe.id, {})),
                        strata=shared.words(header.strata_of(probe)),
                    )

    def _criteria(
        self, probes: Sequence[Probe], measured: Iterable[Features]
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
        if {each.response_id for each in measured} - stored:
            raise TransientError(
                "Responses of the run are not in the store yet.", retry_after_s=0.2
            )
        return found

    def _with_own_gaps(self, finding: RunFinding, run: Run) -> RunFinding:
        """Add the extractor's own gap between the two names to each gap, where it is calibrated."""
        key = finding.key
        version = next(pin.version for pin in run.extractors if pin.name == key.extractor)
        own = self._store.calibrations.find(key.extractor, version)
        return with_own_gaps(finding, own)

    def _diagnosis(
        self, completion: Completion, finding: RunFinding, plan: AnalysisPlan, together: int
    ) -> Diagnosis:
        return Diagnosis(
            **self._head(completion, plan),
            **vars(finding.key),
            tolerance=plan.tolerance,
            family=finding.family,
            claim=CLAIMS[plan.claim],
            together=together,
            groups=finding.groups,
            gaps=finding.gaps,
            disparities=finding.disparities,
            overall=finding.overall,
            missing=finding.missing,
        )

    def _description(
        self, completion: Completion, stratum: StratumDescription, plan: AnalysisPlan, together: int
    ) -> Diagnosis:
        return Diagnosis(
            **self._head(completion, plan),
            **vars(stratum.key),
            stratum=True,
            tolerance=plan.tolerance,
            family=0,
            claim=CLAIMS[plan.claim],
            together=together,
            groups=stratum.groups,
            gaps=(),
        )

    def _head(self, completion: Completion, plan: AnalysisPlan) -> dict[str, Any]:
        """Return the fields that diagnoses and assessments share."""
        run = completion.model_dump(include={"tenant", "purpose", "run_id"})
        return {**run, "at": self._now(), "completion_id": completion.id, "alpha": plan.alpha}
