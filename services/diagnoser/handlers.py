"""Diagnoses closed runs: reads the store once, gives one diagnosis per question."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from services.diagnoser.domain import Case, Finding, Plan, diagnose
from shared.contracts import Completion, Diagnosis, Features, Probe, Run
from shared.errors import TransientError
from shared.store import Store

CLAIM = "these prompts, put to this model; not the population they were drawn from"


class Diagnose:
    """The handler of completions; it computes, so it runs in a thread."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], plan: Plan) -> None:
        self._store = store
        self._now = now
        self._plan = plan

    def __call__(self, completion: Completion) -> Sequence[Diagnosis]:
        """Give the diagnoses of a run that has closed.

        Raises
        ------
        TransientError
            The recorder has not yet written everything the run closed with.
        """
        there = self._store.records.count(Features, run_id=completion.run_id)
        if there < completion.arrived:
            raise TransientError(
                f"{completion.arrived - there} features of the run are not in the store yet.",
                retry_after_s=0.2,
            )
        plan = self._plan_of(completion.run_id)
        cases = list(self._cases(completion.run_id))
        return [self._diagnosis(completion, finding, plan) for finding in diagnose(cases, plan)]

    def _plan_of(self, run_id: str) -> Plan:
        [run] = self._store.records.get(Run, [run_id])
        suite = self._store.suites.get(run.suite_hash)
        if suite is None:
            return self._plan
        return Plan(
            alpha=self._plan.alpha,
            tolerance=self._plan.tolerance,
            features=suite.features,
            measured={each.name: each.features for each in self._store.instruments.ever()},
            selected_at_least=suite.selected_at_least,
        )

    def _cases(self, run_id: str) -> Iterator[Case]:
        asked = self._store.records.read(Probe, run_id=run_id, texts=False)
        probes = {probe.id: probe for probe in asked}
        for features in self._store.records.read(Features, run_id=run_id):
            yield _case(probes[features.probe_id], features)

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
            claim=CLAIM,
            groups=finding.groups,
            gaps=finding.gaps,
        )


def _case(probe: Probe, features: Features) -> Case:
    return Case(
        target=probe.target.name,
        scaffold=probe.scaffold,
        unit=probe.unit_id,
        set=probe.set_id,
        groups=probe.groups,
        extractor=features.extractor,
        values=features.values,
        why_missing=features.unscorable,
    )
