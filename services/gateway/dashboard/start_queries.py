"""Options of the forms that start work, and their likely cost and power."""

from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Run, SuiteOutline
from biaswatch.shared.presentation.feature_power import EarlierFindings
from biaswatch.shared.presentation.overview import (
    EarlierSpending,
    SpendingEstimate,
    counts_note,
    is_several_calls,
)
from biaswatch.shared.presentation.planned import PowerByRepeats
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.store import Store

MAX_SUITES = 200
MAX_DECIDED = 3
"""Earlier runs whose results are shown before a new one."""
MAX_RUNS = 200
"""Earlier runs that are considered."""


@dataclass(frozen=True)
class StartQueries:
    """Blocking queries of the options for new work; call them in a thread."""

    store: Store
    runs: RunQueries

    def suites(self) -> list[SuiteOutline]:
        """Return the usable suites of the caller's tenant, the latest first."""
        return [suite for suite in self.store.suites.latest(MAX_SUITES) if not suite.purged]

    def targets(self) -> list[str]:
        """Return the targets of earlier runs."""
        return sorted({name for run in self.runs.latest(MAX_RUNS) for name in run.targets})

    def decided(self, suite: str) -> list[str]:
        """Return what the latest runs of a suite could decide, the latest first."""
        listed = [
            run
            for run in self.runs.latest(MAX_RUNS, found=True)
            if run.suite == suite and run.ended and run.found
        ]
        return [
            f"{run.at:%Y-%m-%d}, {run.responses:,} answers by {', '.join(run.targets)}:"
            f" {words(run.found.word)}, {counts_note(run.found)}"
            for run in listed[:MAX_DECIDED]
            if run.found
        ]

    def power(
        self, suite_hash: str | None, targets: Sequence[str], parts: int, repeats: int
    ) -> PowerByRepeats:
        """Return what a run of a suite can decide, as the answers of its latest run varied."""
        earlier = self.latest_of(suite_hash)
        outline = self.store.suites.outline(suite_hash)
        return PowerByRepeats(
            EarlierFindings(self.runs.diagnoses(earlier.id), earlier.repeats, targets)
            if earlier
            else None,
            parts,
            parts * (outline.probes if outline else 0),
            repeats,
        )

    def latest_of(self, suite_hash: str | None) -> Run | None:
        """Return the latest run of a suite that has findings; None without one."""
        for progress in self.runs.latest(MAX_RUNS):
            if progress.diagnoses:
                run = self.runs.run(progress.run_id)
                if run.suite_hash == suite_hash:
                    return run
        return None

    def estimates(self, run: Run) -> list[str]:
        """Return answers and likely cost for each target of a run, as sentences."""
        outline = self.store.suites.outline(run.suite_hash)
        answers = (outline.probes if outline else 0) * len(run.scaffolds) * run.repeats
        return [
            self.estimate(target.name, answers, run.scaffolds, run.suite) for target in run.targets
        ]

    def estimate(
        self,
        target: str,
        answers: int,
        scaffolds: Sequence[str] = ("direct",),
        suite: str | None = None,
    ) -> str:
        """Return the likely cost of answers of a model: as in earlier runs, of one suite or any."""
        earlier = self._earlier(target, scaffolds, suite)
        several = is_several_calls(scaffolds)
        return SpendingEstimate(target, answers, several, earlier, suite).words

    def _earlier(
        self, target: str, scaffolds: Sequence[str], suite: str | None
    ) -> EarlierSpending | None:
        """Add up the runs that asked this target through the same scaffolds, if possible alone."""
        candidates = [
            run
            for run in self.runs.latest(MAX_RUNS)
            if suite in {None, run.suite} and target in run.targets and run.responses
        ]
        same = [
            run for run in candidates if self.runs.run(run.run_id).scaffolds == tuple(scaffolds)
        ]
        alone = [run for run in same if run.targets == [target]]
        responses = {run.run_id: run.responses for run in alone or same}
        spending = self.store.calls.spending(responses)
        answers = sum(responses[id_] for id_ in spending)
        if not answers:
            return None
        tokens = sum(spent.tokens for spent in spending.values())
        cost = sum(spent.cost for spent in spending.values())
        return EarlierSpending(answers, tokens, cost, alone=bool(alone))
