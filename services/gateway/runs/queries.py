"""Runs as the store has them: their progress, findings and interpretations."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from biaswatch.services.gateway.runs.progress import ProgressQueries, lanes_of
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Assessment,
    Brief,
    ComparedGroups,
    Diagnosis,
    Evaluation,
    GroupCounts,
    Purpose,
    Run,
    Verdict,
    derived_id,
)
from biaswatch.shared.contracts.completion import PausedTarget
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.requests.run_views import Interpretation, RunProgress, RunVerdicts, SuiteView
from biaswatch.shared.requests.unanswered import unanswered_reasons
from biaswatch.shared.store import Store

UNMEASURED = "unmeasured"
"""How comparisons end of which one side has no measured answer."""
MAX_RUNS = 10_000
MOST_KNOWN = 2000
"""Runs that are kept at once, so that who follows one does not have it read at every look."""
MAX_BRIEFS = 100
"""How many of the latest interpretations are looked at for one that waits."""
RecordT = TypeVar("RecordT", Diagnosis, Assessment)


class RunQueries:
    """Reads runs; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._progress = ProgressQueries(store)
        self._known: dict[str, Run] = {}
        self._concluded: dict[tuple[str, int, int], RunVerdicts | None] = {}

    def run(self, run_id: str) -> Run:
        """Return a run, or raise NotFoundError."""
        for run in self._runs([run_id]):
            return run
        raise NotFoundError(f"There is no run {run_id}. `biaswatch runs` lists them.")

    def _runs(self, ids: Sequence[str]) -> list[Run]:
        """Return the runs with these ids, in their order; a run never changes, so it is kept."""
        sees = self._store.records.sees
        found = {id_: run for id_ in ids if (run := self._known.get(id_)) and sees(run)}
        if new := {run.id: run for run in self._store.records.get(Run, set(ids) - found.keys())}:
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            self._known.update(new)
        found |= new
        return [found[id_] for id_ in ids if id_ in found]

    def latest(
        self,
        last: Annotated[int, Field(ge=1, le=MAX_RUNS)] = 100,
        purpose: Purpose | None = None,
        begins: Annotated[str, Field(pattern=r"^[0-9a-f]{0,32}$")] = "",
        *,
        found: bool = False,
    ) -> list[RunProgress]:
        """Return the latest runs; rounds of monitors and windows of traffic by their purpose.

        With `begins`, those whose ids begin so, whatever their purpose; with `found`, also what
        each found.
        """
        purpose = purpose or (None if begins else Purpose.STUDY)
        ids = self._store.records.latest_ids(Run, last, purpose=purpose, begins=begins)
        runs = self._progress.of(self._runs(ids))
        if not found:
            return runs
        return [each.model_copy(update={"found": self._verdicts(each)}) for each in runs]

    def _verdicts(self, run: RunProgress) -> RunVerdicts | None:
        """Return what the last completion of a run concludes; of one that has ended it is kept."""
        if not (run.ended and run.diagnoses):
            return None
        key = (run.run_id, run.opening, run.diagnoses)
        if key not in self._concluded:
            if len(self._concluded) > MOST_KNOWN:
                self._concluded.clear()
            self._concluded[key] = self._counted(run.run_id)
        return self._concluded[key]

    def _counted(self, run_id: str) -> RunVerdicts | None:
        by_completion: dict[str, Counter[str]] = defaultdict(Counter)
        at: dict[str, str] = {}
        for each in self._store.records.numbers(Diagnosis, run_id=run_id):
            if not each.get("stratum"):
                completion = each["completion_id"]
                by_completion[completion].update(_endings(each))
                at[completion] = max(at.get(completion, ""), each["at"])
        last = max(at, key=at.__getitem__, default=None)
        counts = by_completion[last] if last else Counter[str]()
        if not counts.total():
            return None
        return RunVerdicts(
            comparisons=counts.total(),
            disparities=counts[Verdict.DISPARITY],
            undecided=counts[Verdict.NOT_ENOUGH],
            unmeasured=counts[UNMEASURED],
        )

    def progress(self, run_id: str) -> RunProgress:
        """Return how far a run is; once it has ended, also why prompts have no answer."""
        run = self.run(run_id)
        [found] = self._progress.of([run])
        if not found.ended or found.archived or run.window is not None:
            return found
        targets = {target.lane: target.name for target in run.targets}
        unanswered = self._store.unanswered.of(run.id, run.purpose)
        return found.model_copy(update={"unanswered": unanswered_reasons(unanswered, targets)})

    def diagnoses(self, run_id: str) -> list[Diagnosis]:
        """Return the diagnoses of a run's last completion, in a stable order."""
        found = self._of_last_completion(Diagnosis, run_id)
        return sorted(found, key=lambda d: (d.target, d.scaffold, d.feature, d.dimension))

    def assessments(self, run_id: str) -> list[Assessment]:
        """Return the assessments of a run's last completion, in a stable order."""
        found = self._of_last_completion(Assessment, run_id)
        return sorted(found, key=lambda each: (each.target, each.scaffold, each.feature))

    def suite(self, suite_hash: str) -> SuiteView:
        """Return what is known of a suite that was uploaded."""
        found = self._store.suites.outline(suite_hash)
        if found is None:
            raise NotFoundError(f"There is no suite {suite_hash}. Upload it first.")
        return SuiteView(
            hash=found.hash, name=found.header.name, probes=found.probes, purged=found.purged
        )

    def paused_targets(self) -> list[PausedTarget]:
        """Return the targets that runs and interpretations wait for, as they refuse every call."""
        return self._store.paused_targets.read(self._lanes_awaited())

    def interpretation(self, brief_id: str) -> Interpretation:
        """Return an interpretation; it has no evaluation while it is under way."""
        brief = next(self._store.records.get(Brief, [brief_id]), None)
        if brief is None:
            raise NotFoundError(f"There is no interpretation {brief_id}.")
        evaluation_id = _evaluation_id(brief)
        found = next(self._store.records.get(Evaluation, [evaluation_id]), None)
        return Interpretation(brief_id=brief_id, evaluation=found)

    def _of_last_completion(self, kind: type[RecordT], run_id: str) -> list[RecordT]:
        self.run(run_id)
        found = list(self._store.records.read(kind, run_id=run_id))
        last = max(found, key=lambda each: each.at).completion_id if found else None
        return [each for each in found if each.completion_id == last]

    def _lanes_awaited(self) -> set[str]:
        """Return the lanes of all targets that something under way needs.

        A pause is the target's, whoever asks it; which targets others ask is their own affair.
        """
        waiting = self._store.gathers(RUN_GATHER).open_keys()
        lanes = {lane for run in self._store.records.get(Run, waiting) for lane in lanes_of(run)}
        briefs = self._store.records.latest(Brief, MAX_BRIEFS, purpose=Purpose.JUDGE)
        unread = self._store.records.missing(Evaluation, map(_evaluation_id, briefs))
        for brief in briefs:
            if _evaluation_id(brief) in unread:
                lanes |= {each.lane for each in (*filter(None, [brief.writer]), *brief.judges)}
        return lanes


def _evaluation_id(brief: Brief) -> str:
    return derived_id(Evaluation.kind, brief.tenant, Purpose.JUDGE, brief.id)


def _endings(diagnosis: Mapping[str, Any]) -> Iterator[str]:
    """Return how each comparison of a finding ended: its verdict, or that it is unmeasured."""
    groups = ComparedGroups(
        GroupCounts(group["group"], group["responses"], group["missing"])
        for group in diagnosis["groups"]
    )
    for gap in diagnosis["gaps"]:
        yield UNMEASURED if groups.is_unmeasured(gap["a"], gap["b"]) else gap["verdict"]
