"""Corrects the findings of a run by all of its labels when new ones arrive."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from biaswatch.services.diagnoser.handlers.labelled_rounds import AddedRounds, LabelledRounds
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
from biaswatch.shared.contracts.alarm import deliveries_of
from biaswatch.shared.contracts.pair_verdict import EVERY, JUDGES
from biaswatch.shared.runtime.jobs import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import log

Case = tuple[str, MeasuredResponse]
MAX_JUDGES = 500
"""Characters of the names of judges in a correction."""


def judged_cases(store: Store, run_id: str, samples: Sequence[LabelSample]) -> Iterator[Case]:
    """Return the judged items of a run that samples were drawn from.

    Groups are those of the samples' dimensions alone: what else is known of a pair may differ for
    each.
    """
    for instrument in JUDGES:
        own_samples = [sample for sample in samples if sample.extractor == instrument]
        if own_samples:
            wanted = {EVERY, *(sample.dimension for sample in own_samples)}
            for item in store.judged_items.of_run(run_id, instrument):
                yield item.id, judged_case(item, instrument, wanted)


def judges_of(store: Store, run_id: str, instrument: str) -> str:
    """Return who judged, as the version of the instrument."""
    items = store.judged_items.of_run(run_id, instrument)
    names = sorted({name for item in items for name in item.judges})
    return ", ".join(names)[:MAX_JUDGES] or instrument


def window_cases(
    store: Store, run: Run, samples: Sequence[LabelSample]
) -> Iterator[tuple[str, MeasuredResponse]]:
    """Return what was measured of a window's answers; a user is the unit, as in its evidence."""
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
"""Labels that are taken in together: a run is corrected once for all of them."""
LINGER_S = 1.0
"""Time that labels wait for more: labelling by keyboard gives one in a few seconds."""


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
            for stored_run in self._store.records.get(Run, {e.run_id for e in labels})
        }
        return [record for id_ in sorted(runs) for record in self.keep(runs[id_])]

    def keep(self, run: Run) -> list[Record]:
        """Store a run's findings as corrected by all labels, and the alarms; return both.

        They are stored before they are published: the labels of the next run, of the same
        monitor, are added to them. A repeat finds the same alarms.
        """
        added, now = self._added(run), self._now()
        self._store.records.write([*added.corrections, *added.alarms])
        # Including those of earlier labels: their process may have died before this line.
        alarms = [*added.known_alarms, *added.alarms]
        self._store.alarm_deliveries.expect(
            [delivery for alarm in alarms for delivery in deliveries_of(alarm, now)]
        )
        for alarm in added.alarms:
            fields = {"what": alarm.what.value, "state": alarm.state.value}
            comparison = alarm.comparison_key
            log("diagnoser").warning(
                "alarm", monitor=alarm.monitor, comparison=comparison, **fields
            )
        return [*added.corrections, *added.alarms]

    def corrected(self, run: Run) -> list[Correction]:
        """Return the findings of a run, corrected by all of its labels."""
        return self._added(run).corrections

    def _added(self, run: Run) -> AddedRounds:
        outline = self._store.suites.outline(run.suite_hash)
        if self._store.archived_runs.find(run.id) is not None:
            return AddedRounds([])  # its readings are away, and would count as missing
        labels = list(self._store.records.read(Label, run_id=run.id))
        samples = list(self._store.records.read(LabelSample, run_id=run.id))
        plan = declared_plan(self._plan, outline.header, self._store) if outline else self._plan
        measured = self._measured(run, outline, samples)
        judged = judged_cases(self._store, run.id, samples)
        # A window may be of millions of users.
        many = outline is None
        answers = fold_answers(chain(measured, judged), samples, labels, many_units=many)
        # Pairs first: after them, the ids of answers are no longer needed.
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
        """Return what the sampled extractors read: of a suite's answers, or of a window's."""
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
            return judges_of(self._store, run.id, instrument)
        return run.version_of(instrument)


GRACE = timedelta(seconds=20)
"""Labels that are younger are on their usual way."""
MOST_LOOKS = 64
"""Between two attempts at a run whose corrections do not arrive."""


@dataclass(frozen=True)
class _Look:
    labels: int
    settled: bool = False
    """Return whether the store has the corrections of that many labels."""
    attempts: int = 0
    wait: int = 0
    """Looks that are left out before the next attempt."""


class LostCorrections:
    """Looks in the store for labels that no correction holds, and has these corrected.

    A message that was lost, or a service that was killed between a label and its correction, leaves
    such labels behind. A run is looked at closely only when its number of labels has changed; one
    whose corrections do not arrive is computed again ever more rarely.
    """

    def __init__(
        self, store: Store, correct: CorrectByLabels, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._correct = correct
        self._now = now
        self._looks: dict[str, _Look] = {}

    async def look(self, publisher: Publisher) -> None:
        """Compute lost corrections again, and publish them."""
        for run_id in await in_thread(self.due):
            for record in await in_thread(self.again, run_id):
                await publisher.publish(record)

    def due(self) -> list[str]:
        """Return the runs whose labels are to be computed with again now."""
        counts = self._store.labelled_runs.counts()
        before, self._looks = self._looks, {}
        for run_id, labels in counts.items():
            last = before.get(run_id)
            if last is None or last.labels != labels:
                last = _Look(labels)
            self._looks[run_id] = self._looked(run_id, last)
        return [id_ for id_, look in self._looks.items() if not look.settled and look.wait == 0]

    def again(self, run_id: str) -> list[Record]:
        """Return what the labels of a run make of its findings, and the alarms that follow."""
        look = self._looks[run_id]
        wait = min(2**look.attempts, MOST_LOOKS)
        self._looks[run_id] = _Look(look.labels, False, look.attempts + 1, wait)
        return [
            record
            for run in self._store.records.get(Run, [run_id])
            for record in self._correct.keep(run)
        ]

    def _looked(self, run_id: str, last: _Look) -> _Look:
        if last.settled:
            return last
        labels = list(self._store.records.read(Label, run_id=run_id, texts=False))
        if not labels:  # purged or archived since they were counted
            return _Look(last.labels, settled=True)
        if max(label.at for label in labels) > self._now() - GRACE:
            return _Look(last.labels, False, last.attempts, wait=1)
        wanted = labels_digest(label.id for label in labels)
        held = self._store.records.read(Correction, run_id=run_id, texts=False)
        settled = any(correction.labels_hash == wanted for correction in held)
        return _Look(last.labels, settled, last.attempts, max(0, last.wait - 1))
