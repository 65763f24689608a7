"""Corrections of a run's findings, recomputed from all of its labels when new ones arrive."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from biaswatch.services.diagnoser.handlers.labelled_rounds import AddedRounds, LabelledRounds
from biaswatch.services.diagnoser.handlers.raised_alarms import log_alarms, record_deliveries
from biaswatch.services.diagnoser.handlers.runs import RunCases, declared_plan
from biaswatch.shared.analysis.findings import AnalysisPlan, MeasuredResponse
from biaswatch.shared.analysis.labels import FindingCorrection, corrections
from biaswatch.shared.analysis.labels.answer_columns import fold_answers
from biaswatch.shared.analysis.labels.corrections import judged_case
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import (
    Correction,
    Label,
    LabelSample,
    Record,
    Run,
    SuiteOutline,
    labels_digest,
)
from biaswatch.shared.contracts.judged_items import EVERY, JUDGES
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store

Case = tuple[str, MeasuredResponse]
MAX_JUDGES = 500
"""Characters of the names of judges in a correction."""


def judged_cases(store: Store, run_id: str, samples: Sequence[LabelSample]) -> Iterator[Case]:
    """Yield the judged items of a run that samples were drawn from.

    They keep only the groups of the samples' dimensions; other facts may be unique to a pair.
    """
    for instrument in JUDGES:
        own_samples = [sample for sample in samples if sample.extractor == instrument]
        if own_samples:
            wanted = {EVERY, *(sample.dimension for sample in own_samples)}
            for item in store.judged_items.of_run(run_id, instrument):
                yield item.id, judged_case(item, instrument, wanted)


def judge_names(store: Store, run_id: str, instrument: str) -> str:
    """Return the names of the judges, which serve as the version of the instrument."""
    items = store.judged_items.of_run(run_id, instrument)
    names = sorted({name for item in items for name in item.judges})
    return ", ".join(names)[:MAX_JUDGES] or instrument


def window_cases(
    store: Store, run: Run, samples: Sequence[LabelSample]
) -> Iterator[tuple[str, MeasuredResponse]]:
    """Yield the measured answers of a window; the unit is the user, as in its evidence."""
    for extractor in sorted({sample.extractor for sample in samples}):
        for reading in store.window_readings.of(run, extractor):
            yield (
                reading.response_id,
                MeasuredResponse(
                    target=reading.target,
                    scaffold=reading.scaffold,
                    unit=reading.unit,
                    set=None,
                    groups=reading.groups,
                    extractor=extractor,
                    values=reading.values,
                    why_missing=reading.unscorable,
                ),
            )


MAX_LABELS_PER_BATCH = 512
"""Labels of one batch, after which a run is corrected once."""
LINGER_S = 1.0
"""Time to wait for further labels of a batch; a person gives one in a few seconds."""


class CorrectByLabels:
    """The handler of labels; it computes, so it runs in a thread."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], plan: AnalysisPlan) -> None:
        self._store = store
        self._cases = RunCases(store)
        self._rounds = LabelledRounds(store, now=now)
        self._now = now
        self._plan = plan

    def __call__(self, labels: Sequence[Label]) -> Sequence[Record]:
        """Return the corrections of every run that these labels belong to.

        The gateway stores a label before it publishes it, so the store has them all.
        """
        runs = {
            stored_run.id: stored_run
            for stored_run in self._store.records.get(Run, {label.run_id for label in labels})
        }
        return [record for id_ in sorted(runs) for record in self.keep(runs[id_])]

    def keep(self, run: Run) -> list[Record]:
        """Store and return the corrections of a run by all of its labels, and the alarms.

        They are stored before they are published, because the labels of the monitor's next run
        are added to them. A repeat returns the same alarms.
        """
        added = self._added(run)
        self._store.records.write([*added.corrections, *added.alarms])
        # With the alarms of earlier labels, whose process may have died before this line.
        alarms = [*added.known_alarms, *added.alarms]
        record_deliveries(self._store, alarms, self._now())
        log_alarms(added.alarms)
        return [*added.corrections, *added.alarms]

    def corrected(self, run: Run) -> list[Correction]:
        """Return the findings of a run, corrected by all of its labels."""
        return self._added(run).corrections

    def _added(self, run: Run) -> AddedRounds:
        outline = self._store.suites.outline(run.suite_hash)
        if self._store.archived_runs.find(run.id) is not None:
            return AddedRounds([])  # its archived readings would count as missing
        labels = list(self._store.records.read(Label, run_id=run.id))
        samples = list(self._store.records.read(LabelSample, run_id=run.id))
        plan = declared_plan(self._plan, outline.header, self._store) if outline else self._plan
        measured = self._measured(run, outline, samples)
        judged = judged_cases(self._store, run.id, samples)
        many = outline is None  # a window may have millions of users
        answers = fold_answers(chain(measured, judged), samples, labels, many_units=many)
        # Counted first, because only this step needs the ids of the answers.
        counted = self._rounds.counted(run, answers, samples, labels)
        answers = [columns.without_ids() for columns in answers]
        digest = labels_digest(label.id for label in labels)
        findings = corrections(answers, samples, labels, plan)
        at = self._now()
        records = [self._record(finding, run, plan, digest, at) for finding in findings]
        return self._rounds.added(records, counted)

    def _measured(
        self, run: Run, outline: SuiteOutline | None, samples: Sequence[LabelSample]
    ) -> Iterable[Case]:
        """Return the readings of the sampled extractors, of a suite's or a window's answers."""
        if outline is None:
            return window_cases(self._store, run, samples)
        instruments = {sample.extractor for sample in samples} - set(JUDGES)
        if not instruments:
            return []
        return (case for case in self._cases.read(run, outline) if case[1].extractor in instruments)

    def _record(
        self, finding: FindingCorrection, run: Run, plan: AnalysisPlan, digest: str, at: datetime
    ) -> Correction:
        fields = {name: value for name, value in vars(finding).items() if name != "key"}
        extractor = finding.key.extractor
        return Correction(
            tenant=run.tenant,
            purpose=run.purpose,
            at=at,
            run_id=run.id,
            **vars(finding.key),
            extractor_version=self._version(run, extractor),
            labels_hash=digest,
            alpha=plan.alpha,
            tolerance=plan.tolerance,
            **fields,
        )

    def _version(self, run: Run, instrument: str) -> str:
        if instrument in JUDGES:
            return judge_names(self._store, run.id, instrument)
        return run.version_of(instrument)


GRACE = timedelta(seconds=20)
"""Age of labels whose corrections are overdue."""
MAX_SKIPPED_CHECKS = 64
"""Checks between two attempts to correct the same run."""


@dataclass(frozen=True)
class _LabelledRun:
    """The state of a labelled run at the last check."""

    labels: int
    settled: bool = False
    """True if the store has the corrections of this number of labels."""
    attempts: int = 0
    wait: int = 0
    """Number of checks to skip before the next attempt."""


class LostCorrections:
    """Finds labels in the store without a correction, and corrects their runs.

    They are left when a message is lost, or when the service is killed before it corrects a run. A
    run is read again only if its number of labels has changed. If its corrections still do not
    arrive, further attempts become rarer.
    """

    def __init__(
        self, store: Store, correct: CorrectByLabels, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._correct = correct
        self._now = now
        self._runs: dict[str, _LabelledRun] = {}

    async def run_once(self, publisher: Publisher) -> None:
        """Recompute lost corrections, and publish them."""
        for run_id in await in_thread(self.due):
            for record in await in_thread(self.again, run_id):
                await publisher.publish(record)

    def due(self) -> list[str]:
        """Return the runs to correct again now."""
        counts = self._store.labelled_runs.counts()
        before, self._runs = self._runs, {}
        for run_id, labels in counts.items():
            last = before.get(run_id)
            if last is None or last.labels != labels:
                last = _LabelledRun(labels)
            self._runs[run_id] = self._checked(run_id, last)
        return [id_ for id_, run in self._runs.items() if not run.settled and run.wait == 0]

    def again(self, run_id: str) -> list[Record]:
        """Correct a run again; return its corrections and alarms."""
        last = self._runs[run_id]
        wait = min(2**last.attempts, MAX_SKIPPED_CHECKS)
        self._runs[run_id] = _LabelledRun(last.labels, False, last.attempts + 1, wait)
        return [
            record
            for run in self._store.records.get(Run, [run_id])
            for record in self._correct.keep(run)
        ]

    def _checked(self, run_id: str, last: _LabelledRun) -> _LabelledRun:
        if last.settled:
            return last
        labels = list(self._store.records.read(Label, run_id=run_id, texts=False))
        if not labels:  # purged or archived since they were counted
            return _LabelledRun(last.labels, settled=True)
        if max(label.at for label in labels) > self._now() - GRACE:
            return _LabelledRun(last.labels, False, last.attempts, wait=1)
        wanted = labels_digest(label.id for label in labels)
        held = self._store.records.read(Correction, run_id=run_id, texts=False)
        settled = any(correction.labels_hash == wanted for correction in held)
        return _LabelledRun(last.labels, settled, last.attempts, max(0, last.wait - 1))
