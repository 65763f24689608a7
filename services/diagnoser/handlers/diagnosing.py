"""Diagnoses closed runs: reads the store once, gives one diagnosis per question."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import numpy as np

from services.diagnoser.domain import Case, Finding, Plan, diagnose
from shared.contracts import (
    Claim,
    Completion,
    Diagnosis,
    Features,
    Probe,
    Run,
    Suite,
    features_id_of,
    probes_of,
)
from shared.errors import PoisonError
from shared.store import Store

CLAIMS = {
    Claim.POPULATION: "the population these prompts were drawn from; the prompt is the unit",
    Claim.BANK: "these prompts alone; each answer is a unit",
}
NOT_ARRIVED = "did not arrive before the run closed"


class Diagnose:
    """Diagnoses runs."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], plan: Plan) -> None:
        self._store = store
        self._now = now
        self._plan = plan

    def __call__(self, completion: Completion, run: Run) -> Sequence[Diagnosis]:
        """Give the diagnoses of a run that has closed."""
        suite = self._store.suites.get(run.suite_hash)
        if suite is None:
            raise PoisonError(f"The suite {run.suite} ({run.suite_hash}) is not in the store.")
        plan = self._plan_for(suite)
        cases = list(self._cases(run, suite))
        # Seeded by the run: whoever diagnoses it again draws the same labels.
        rng = np.random.default_rng(int(run.id, 16))
        found = diagnose(cases, plan, rng)
        return [self._diagnosis(completion, finding, plan) for finding in found]

    def _plan_for(self, suite: Suite) -> Plan:
        return Plan(
            alpha=self._plan.alpha,
            tolerance=self._plan.tolerance,
            features=suite.features,
            measured={each.name: each.features for each in self._store.instruments.ever()},
            selected_at_least=suite.selected_at_least,
            claim=suite.claim,
            permutations=self._plan.permutations,
        )

    def _cases(self, run: Run, suite: Suite) -> Iterator[Case]:
        """Give every case the run planned, also where nothing came: absence is counted by group."""
        found = {each.id: each for each in self._store.records.read(Features, run_id=run.id)}
        for probe in probes_of(run, suite, run.at):
            for pin in run.extractors:
                features = found.get(features_id_of(probe, pin.name, pin.version))
                yield _case(probe, pin.name, features)

    def _diagnosis(self, completion: Completion, finding: Finding, plan: Plan) -> Diagnosis:
        return Diagnosis(
            tenant=completion.tenant,
            purpose=completion.purpose,
            at=self._now(),
            run_id=completion.run_id,
            completion_id=completion.id,
            target=finding.question.target,
            scaffold=finding.question.scaffold,
            extractor=finding.question.extractor,
            feature=finding.question.feature,
            dimension=finding.question.dimension,
            alpha=plan.alpha,
            tolerance=plan.tolerance,
            family=finding.family,
            claim=CLAIMS[plan.claim],
            groups=finding.groups,
            gaps=finding.gaps,
            disparities=finding.disparities,
            missing=finding.missing,
        )


def _case(probe: Probe, extractor: str, features: Features | None) -> Case:
    return Case(
        target=probe.target.name,
        scaffold=probe.scaffold,
        unit=probe.unit_id,
        set=probe.set_id,
        groups=probe.groups,
        extractor=extractor,
        values=features.values if features else {},
        why_missing=features.unscorable if features else NOT_ARRIVED,
    )
