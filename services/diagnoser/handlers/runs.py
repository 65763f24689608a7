"""Diagnoses closed runs: reads the store once and returns their diagnoses and assessments."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from biaswatch.services.diagnoser.handlers.run_cases import RunCases, declared_plan
from biaswatch.shared.analysis.findings import (
    AnalysisPlan,
    MeasuredResponse,
    RunFinding,
    StratumDescription,
    assess,
    describe_strata,
    diagnose,
    folded,
    with_own_gaps,
)
from biaswatch.shared.contracts import (
    Assessment,
    Claim,
    Completion,
    Diagnosis,
    Record,
    Run,
    Verdict,
)
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import COMPARISONS

CLAIMS = {
    Claim.POPULATION: "the population these prompts were drawn from; the prompt is the unit",
    Claim.BANK: "these prompts alone; each answer is a unit",
}


class DiagnoseRun:
    """Diagnoses runs."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], plan: AnalysisPlan) -> None:
        self._store = store
        self._cases = RunCases(store)
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
        plan = declared_plan(self._plan, outline.header, self._store)
        cases: Iterable[MeasuredResponse] = (case for _, case in self._cases.read(run, outline))
        assessed = list(cases) if plan.assessed else None
        measured = folded(cases if assessed is None else assessed)
        # Seeded by the run, so that a second diagnosis draws the same labels.
        rng = np.random.default_rng(int(run.id, 16))
        found = [self._with_own_gaps(each, run) for each in diagnose(measured, plan, rng)]
        for gap in (gap for finding in found for gap in finding.gaps):
            COMPARISONS.labels(gap.verdict).inc()
        strata = describe_strata(measured, plan)
        more = [] if assessed is None else assess(assessed, plan, rng)
        together = len(found) + len(strata) + len(more)
        return [
            *(self._diagnosis(completion, finding, plan, together) for finding in found),
            *(self._description(completion, stratum, plan, together) for stratum in strata),
            *(Assessment(**self._head(completion, plan), **vars(each)) for each in more),
        ]

    def _with_own_gaps(self, finding: RunFinding, run: Run) -> RunFinding:
        """Add the extractor's own gap between the two names to each gap, where it is calibrated."""
        key = finding.key
        version = run.version_of(key.extractor)
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
