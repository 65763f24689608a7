"""Diagnoses closed runs: reads the store once and returns their diagnoses and assessments."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np

from biaswatch.services.diagnoser.handlers.memory import SharedValues
from biaswatch.services.diagnoser.handlers.monitor_rounds import CloseRounds
from biaswatch.shared.analysis.findings import (
    AnalysisPlan,
    MeasuredResponse,
    RunFinding,
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
    Features,
    Probe,
    Purpose,
    Record,
    Response,
    Run,
    SuiteHeader,
    SuiteOutline,
    Verdict,
    features_id_of,
    response_id_of,
)
from biaswatch.shared.errors import PoisonError, TransientError
from biaswatch.shared.runtime.passes import ArrivalForecast
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import PlannedProbes, Store
from biaswatch.shared.telemetry import COMPARISONS

CRITERION = "criterion:"
"""Prefix of the name of a step that judges one criterion."""
AT_ONCE = 500
"""Probes whose records are in memory together."""
NOT_ARRIVED = "did not arrive before the run closed"


def declared_plan(plan: AnalysisPlan, suite: SuiteHeader, store: Store) -> AnalysisPlan:
    """Return the plan of an analysis: the levels of the service, the rest from the suite."""
    return replace(
        plan,
        features=suite.features,
        measured={extractor.name: extractor.features for extractor in store.extractors.ever()},
        scale=suite.scale,
        selected_at_least=suite.selected_at_least,
        assessed=suite.assessed,
        error_rates=suite.error_rates,
        gaps_by=suite.gaps_by,
        claim=suite.claim,
        ranges=suite.known_ranges,
        against=suite.compared,
    )


class RunCases:
    """Reads the measured answers of runs."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, run: Run, suite: SuiteOutline) -> Iterator[tuple[str, MeasuredResponse]]:
        """Yield every planned case with the id of its response, also for missing responses.

        The store is read in batches, and cases share equal values to save memory.
        """
        header, shared = suite.header, SharedValues()
        probes = PlannedProbes(self._store.suites, suite, run).read(run.at)
        while batch := list(islice(probes, AT_ONCE)):
            ids = {
                (probe.id, pin.name): features_id_of(probe, pin.name, pin.version)
                for probe in batch
                for pin in run.extractors
            }
            measured = self._store.records.bodies_of(Features, ids.values())
            criteria = self._criteria(batch, measured.values()) if header.assessed else {}
            for probe in batch:
                id_ = response_id_of(probe)
                for pin in run.extractors:
                    features = measured.get(ids[probe.id, pin.name])
                    case = MeasuredResponse(
                        target=probe.target.name,
                        scaffold=probe.scaffold,
                        unit=probe.unit_id,
                        set=probe.set_id,
                        groups=shared.words(header.groups_of(probe)),
                        extractor=pin.name,
                        values=shared.numbers(features["values"] if features else {}),
                        why_missing=features.get("unscorable") if features else NOT_ARRIVED,
                        reservation=features.get("reservation") if features else None,
                        expected=probe.expected,
                        criteria=shared.numbers(criteria.get(probe.id, {})),
                        strata=shared.words(header.strata_of(probe)),
                        random=shared.words(header.random_of(probe)),
                    )
                    yield id_, case

    def _criteria(
        self, probes: Sequence[Probe], measured: Iterable[Mapping[str, Any]]
    ) -> dict[str, dict[str, float | None]]:
        """Return the ratings of criteria in the steps of a scaffold, by probe."""
        ratings: dict[str, dict[str, float | None]] = {}
        stored = set()
        ids = [response_id_of(probe) for probe in probes]
        for response in self._store.records.get(Response, ids, texts=False):
            stored.add(response.id)
            ratings[response.probe_id] = {
                step.name.removeprefix(CRITERION): step.rating
                for step in response.steps
                if step.name.startswith(CRITERION)
            }
        if {features["response_id"] for features in measured} - stored:
            raise TransientError(
                "Responses of the run are not in the store yet.", retry_after_s=0.2
            )
        return ratings


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
        findings = [self._with_own_gaps(finding, run) for finding in diagnose(measured, plan, rng)]
        for gap in (gap for finding in findings for gap in finding.gaps):
            COMPARISONS.labels(gap.summary).inc()
        strata = describe_strata(measured, plan)
        more = [] if assessed is None else assess(assessed, plan, rng)
        records = len(findings) + len(strata) + len(more)
        return [
            *(self._diagnosis(completion, finding, plan, records) for finding in findings),
            *(self._diagnosis(completion, stratum, plan, records) for stratum in strata),
            *(
                Assessment(**self._head(completion, plan), **vars(assessment))
                for assessment in more
            ),
        ]

    def _with_own_gaps(self, finding: RunFinding, run: Run) -> RunFinding:
        """Add the extractor's own gap to each gap, if the extractor is calibrated."""
        key = finding.key
        version = run.version_of(key.extractor)
        own = self._store.calibrations.find(key.extractor, version)
        return with_own_gaps(finding, own)

    def _diagnosis(
        self, completion: Completion, finding: RunFinding, plan: AnalysisPlan, records: int
    ) -> Diagnosis:
        return Diagnosis(
            **self._head(completion, plan),
            **vars(finding.key),
            stratum=finding.is_stratum,
            tolerance=plan.tolerance,
            family=finding.family,
            error_rate=finding.is_error_rate,
            claim=CLAIMS[plan.claim],
            p_anywhere=finding.p_anywhere,
            random=finding.random,
            together=records,
            groups=finding.groups,
            gaps=finding.gaps,
            disparities=finding.disparities,
            parities=finding.parities,
            interactions=finding.interactions,
            overall=finding.overall,
            missing=finding.missing,
        )

    def _head(self, completion: Completion, plan: AnalysisPlan) -> dict[str, Any]:
        """Return the fields that diagnoses and assessments share."""
        run = completion.model_dump(include={"tenant", "purpose", "run_id"})
        return {**run, "at": self._now(), "completion_id": completion.id, "alpha": plan.alpha}


class OnCompletion:
    """The handler of completions; it computes, so it runs in a thread."""

    def __init__(
        self,
        store: Store,
        diagnose: DiagnoseRun,
        watch: CloseRounds,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._diagnose = diagnose
        self._watch = watch
        self._forecast = ArrivalForecast(now)

    def __call__(self, completion: Completion) -> Sequence[Record]:
        """Return the diagnosis of a closed run, or the evidence of a closed round.

        Raises
        ------
        TransientError
            Some features of the run are not in the store yet.
        """
        [run] = self._store.records.get(Run, [completion.run_id])
        if run.purpose is Purpose.SEARCH:  # only the whole search controls its error
            return ()
        if run.window is not None:  # a window checks its features itself
            return self._watch(completion, run)
        stored = self._store.records.count(Features, run_id=completion.run_id)
        if (missing := completion.arrived - stored) > 0:
            raise TransientError(
                f"{missing} features of the run are not in the store yet.",
                retry_after_s=self._forecast.wait_s(completion.run_id, missing),
            )
        if run.monitor_id is None:
            return self._diagnose(completion, run)
        return self._watch(completion, run)

    def is_round(self, completion: Completion) -> bool:
        """Return whether a completion is of a monitor's round."""
        return any(run.monitor_id for run in self._store.records.get(Run, [completion.run_id]))


class CompletionsInTurn:
    """Handles completions in order, with separate queues for rounds of monitors and for runs.

    Rounds have to be added up in order, and must not wait for the diagnosis of a large run, which
    takes minutes.
    """

    def __init__(
        self,
        handle: Callable[[Completion], Sequence[Record]],
        is_round: Callable[[Completion], bool],
    ) -> None:
        self._handle, self._is_round = handle, is_round
        self._rounds, self._runs = asyncio.Lock(), asyncio.Lock()
        self._classifying = asyncio.Lock()

    async def __call__(self, completion: Completion) -> Sequence[Record]:
        """Run the handler after all earlier completions of the same kind."""
        async with self._classifying:  # one at a time, to keep the order
            is_round = await in_thread(self._is_round, completion)
        async with self._rounds if is_round else self._runs:
            return await in_thread(self._handle, completion)
