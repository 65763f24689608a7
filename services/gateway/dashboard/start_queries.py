"""What somebody chooses from who starts a run, and what earlier runs have spent."""

from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Run, SuiteOutline
from biaswatch.shared.presentation.run_estimates import EarlierSpending, RunEstimate, estimates_of
from biaswatch.shared.store import Store

MOST_SUITES = 200
MOST_RUNS = 200
"""Earlier runs that are looked at."""


class StartQueries:
    """Reads what there is to start; it blocks, so call it in a thread."""

    def __init__(self, store: Store, runs: RunQueries) -> None:
        self._store = store
        self._runs = runs

    def suites(self) -> list[SuiteOutline]:
        """Return the suites of the caller's tenant that can be asked, the latest first."""
        found = self._store.suites.latest(MOST_SUITES)
        return [each for each in found if not each.purged]

    def targets(self) -> list[str]:
        """Return the models that earlier runs have asked."""
        return sorted({name for run in self._runs.latest(MOST_RUNS) for name in run.targets})

    def estimates(self, run: Run) -> list[RunEstimate]:
        """Return what each target of a run is asked for, and about spends."""
        outline = self._store.suites.outline(run.suite_hash)
        earlier = [self._earlier(run, target.name) for target in run.targets]
        return estimates_of(run, outline.probes if outline else 0, earlier)

    def _earlier(self, run: Run, target: str) -> EarlierSpending | None:
        """Add up the runs that asked this model alone, through the same scaffolds."""
        latest = self._runs.latest(MOST_RUNS)
        mine = {
            each.run_id: each
            for each in latest
            if each.suite == run.suite and each.targets == [target] and each.responses
        }
        alike = [id_ for id_ in mine if self._runs.run(id_).scaffolds == run.scaffolds]
        spent = self._store.calls.spending(alike)
        answers = sum(mine[id_].responses for id_ in spent)
        if not answers:
            return None
        tokens = sum(each.tokens for each in spent.values())
        return EarlierSpending(answers, tokens, sum(each.cost for each in spent.values()))
