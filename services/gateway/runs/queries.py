"""Read runs: their progress, findings and interpretations."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import Field

from biaswatch.services.gateway.runs.descriptions import RunDescriptions
from biaswatch.services.gateway.runs.progress import ProgressQueries, lanes_with_judges
from biaswatch.shared.caching import LatestResults
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Assessment,
    Brief,
    Diagnosis,
    Evaluation,
    ExtractorPin,
    ExtractorStatus,
    GroupAnswerCounts,
    GroupCounts,
    PausedTarget,
    Purpose,
    Run,
    SuiteOutline,
    Verdict,
    derived_id,
)
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.formatting import undetected_gaps
from biaswatch.shared.requests.run_views import Interpretation, RunProgress, RunVerdicts, SuiteView
from biaswatch.shared.requests.unanswered import unanswered_reasons
from biaswatch.shared.store import Store

UNMEASURED = "unmeasured"
"""Outcome of a comparison with a group without measured answers."""
MAX_RUNS = 10_000
CACHED_RUNS = 2000
RECENT_BRIEFS = 100
"""Latest interpretations that are checked for ones under way."""
RecordT = TypeVar("RecordT", Diagnosis, Assessment)


def no_run(run_id: str) -> NotFoundError:
    """Return the error for a run that does not exist in the caller's scope."""
    return NotFoundError(f"There is no run {run_id}. `biaswatch runs` lists them.")


def pinned_extractors(store: Store, run: Run) -> list[tuple[ExtractorPin, ExtractorStatus | None]]:
    """Return the extractors of a run with what they announced; it blocks."""
    announced = {(status.name, status.version): status for status in store.extractors.ever()}
    return [(pin, announced.get((pin.name, pin.version))) for pin in run.extractors]


class RunQueries:
    """Blocking queries of runs; call them in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._progress = ProgressQueries(store)
        self._descriptions = RunDescriptions(store)
        self._cached: dict[str, Run] = {}
        self._verdicts = LatestResults[tuple[str, int, int], RunVerdicts | None](CACHED_RUNS)

    def run(self, run_id: str) -> Run:
        """Return a run, or raise NotFoundError."""
        for run in self._runs([run_id]):
            return run
        raise no_run(run_id)

    def _runs(self, ids: Sequence[str]) -> list[Run]:
        """Return the runs with these ids, in their order; cached, as a run never changes."""
        records = self._store.records
        runs = {id_: run for id_ in ids if (run := self._cached.get(id_)) and records.sees(run)}
        if new := {run.id: run for run in records.get(Run, set(ids) - runs.keys())}:
            if len(self._cached) > CACHED_RUNS:
                self._cached.clear()
            self._cached.update(new)
        runs |= new
        return [runs[id_] for id_ in ids if id_ in runs]

    def latest(
        self,
        last: Annotated[int, Field(ge=1, le=MAX_RUNS)] = 100,
        purpose: Purpose | None = None,
        about: Annotated[str, Field(max_length=300)] = "",
        *,
        found: bool = False,
    ) -> list[RunProgress]:
        """Return the latest runs; rounds of monitors and windows of traffic by their purpose.

        With `about`, those whose name, tags or note have this text, whatever their purpose; with
        `found`, also what each found.
        """
        if about:
            ids = self._descriptions.about(about)[:last]
        else:
            ids = self._store.records.latest_ids(Run, last, purpose=purpose or Purpose.STUDY)
        runs = self._descriptions.added_to(self._progress.of(self._runs(ids)))
        if not found:
            return runs
        return [run.model_copy(update={"found": self._verdicts_of(run)}) for run in runs]

    def _verdicts_of(self, run: RunProgress) -> RunVerdicts | None:
        """Return the verdicts of an ended run's last completion; cached."""
        if not (run.ended and run.diagnoses):
            return None
        key = (run.run_id, run.opening, run.diagnoses)
        return self._verdicts.get(key, partial(self._count_verdicts, run.run_id))

    def _count_verdicts(self, run_id: str) -> RunVerdicts | None:
        by_completion: dict[str, Counter[str]] = defaultdict(Counter)
        ends: dict[str, list[tuple[str, float | None, float | None]]] = defaultdict(list)
        moments: dict[str, str] = {}
        for row in self._store.records.bodies(Diagnosis, run_id=run_id):
            if not row.get("stratum"):
                completion = row["completion_id"]
                outcomes = list(_outcomes(row))
                by_completion[completion].update(outcomes)
                ends[completion] += [
                    (row["feature"], gap["gap"].get("low"), gap["gap"].get("high"))
                    for gap, outcome in zip(row["gaps"], outcomes, strict=True)
                    if outcome == Verdict.INCONCLUSIVE
                ]
                moments[completion] = max(moments.get(completion, ""), row["at"])
        last = max(moments, key=moments.__getitem__, default=None)
        counts = by_completion[last] if last else Counter[str]()
        if not counts.total():
            return None
        return RunVerdicts(
            comparisons=counts.total(),
            disparities=counts[Verdict.DISPARITY],
            undecided=counts[Verdict.INCONCLUSIVE],
            unmeasured=counts[UNMEASURED],
            undetected=undetected_gaps(ends[last]) if last else {},
        )

    def progress(self, run_id: str) -> RunProgress:
        """Return the progress of a run; once it has ended, also why prompts have no answer."""
        run = self.run(run_id)
        [progress] = self._descriptions.added_to(self._progress.of([run]))
        if not progress.ended or progress.archived or run.window is not None:
            return progress
        targets = {target.lane: target.name for target in run.targets}
        unanswered = self._store.unanswered.of(run.id, run.purpose)
        return progress.model_copy(update={"unanswered": unanswered_reasons(unanswered, targets)})

    def diagnoses(self, run_id: str) -> list[Diagnosis]:
        """Return the diagnoses of a run's last completion, in a stable order."""
        diagnoses = self._of_last_completion(Diagnosis, run_id)
        return sorted(diagnoses, key=lambda d: (d.target, d.scaffold, d.feature, d.dimension))

    def assessments(self, run_id: str) -> list[Assessment]:
        """Return the assessments of a run's last completion, in a stable order."""
        assessments = self._of_last_completion(Assessment, run_id)
        return sorted(assessments, key=lambda a: (a.target, a.scaffold, a.feature))

    def outline(self, suite_hash: str) -> SuiteOutline:
        """Return the outline of an uploaded suite, or raise NotFoundError."""
        if (outline := self._store.suites.outline(suite_hash)) is None:
            raise NotFoundError(f"There is no suite {suite_hash}. Upload it first.")
        return outline

    def suite(self, suite_hash: str) -> SuiteView:
        """Return name and size of an uploaded suite."""
        outline = self.outline(suite_hash)
        return SuiteView(
            hash=outline.hash,
            name=outline.header.name,
            probes=outline.probes,
            purged=outline.purged,
        )

    def paused_targets(self) -> list[PausedTarget]:
        """Return the targets that refuse every call and that work under way waits for."""
        return self._store.paused_targets.read(self._awaited_lanes())

    def interpretation(self, brief_id: str) -> Interpretation:
        """Return an interpretation; it has no evaluation while it is under way."""
        brief = next(self._store.records.get(Brief, [brief_id]), None)
        if brief is None:
            raise NotFoundError(f"There is no interpretation {brief_id}.")
        evaluation = next(self._store.records.get(Evaluation, [_evaluation_id(brief)]), None)
        return Interpretation(brief_id=brief_id, evaluation=evaluation)

    def _of_last_completion(self, kind: type[RecordT], run_id: str) -> list[RecordT]:
        self.run(run_id)
        records = list(self._store.records.read(kind, run_id=run_id))
        last = max(records, key=lambda record: record.at).completion_id if records else None
        return [record for record in records if record.completion_id == last]

    def _awaited_lanes(self) -> set[str]:
        """Return the lanes of the caller's work under way.

        A target is paused for all tenants, but which targets others use is not shown.
        """
        waiting = self._store.gathers(RUN_GATHER).open_keys()
        lanes = {
            lane for run in self._store.records.get(Run, waiting) for lane in lanes_with_judges(run)
        }
        briefs = self._store.records.latest(Brief, RECENT_BRIEFS, purpose=Purpose.JUDGE)
        missing = self._store.records.missing(Evaluation, map(_evaluation_id, briefs))
        for brief in briefs:
            if _evaluation_id(brief) in missing:
                lanes |= {target.lane for target in (brief.writer, *brief.judges) if target}
        return lanes


def _evaluation_id(brief: Brief) -> str:
    return derived_id(Evaluation.kind, brief.tenant, Purpose.JUDGE, brief.id)


def _outcomes(diagnosis: Mapping[str, Any]) -> Iterator[str]:
    """Yield the outcome of each comparison of a finding: its verdict, or `UNMEASURED`."""
    groups = GroupAnswerCounts(
        GroupCounts(group["group"], group["responses"], group["missing"])
        for group in diagnosis["groups"]
    )
    for gap in diagnosis["gaps"]:
        yield UNMEASURED if groups.is_unmeasured(gap["a"], gap["b"]) else gap["summary"]
