"""What new labels lead to: the findings of their run, corrected by all labels so far."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import chain

from biaswatch.services.diagnoser.handlers.judged_cases import Case, judged_cases, judges_of
from biaswatch.services.diagnoser.handlers.labelled_rounds import AddedRounds, LabelledRounds
from biaswatch.services.diagnoser.handlers.run_cases import RunCases, declared_plan
from biaswatch.services.diagnoser.handlers.window_cases import window_cases
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.analysis.labels import FindingCorrection, corrections
from biaswatch.shared.analysis.labels.answer_columns import fold_answers
from biaswatch.shared.contracts import (
    Correction,
    Label,
    LabelSample,
    Record,
    Run,
    SuiteOutline,
    labels_digest,
)
from biaswatch.shared.contracts.alarm_delivery import deliveries_of
from biaswatch.shared.contracts.judged_item import JUDGES
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import log

MOST_AT_ONCE = 512
"""Labels that are taken in together: a run is corrected once for all of them."""
LINGER_S = 1.0
"""How long labels wait for more of them: whoever labels by keyboard gives one in a few seconds."""


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
        runs = {each.id: each for each in self._store.records.get(Run, {e.run_id for e in labels})}
        return [each for id_ in sorted(runs) for each in self.keep(runs[id_])]

    def keep(self, run: Run) -> list[Record]:
        """Store what all labels make of a run's findings, and the alarms; return both to be told.

        They are in the store before anybody hears of them: the labels of the next run, of the same
        monitor, are added to them. Who does it again finds the same alarms.
        """
        added, now = self._added(run), self._now()
        self._store.records.write([*added.corrections, *added.alarms])
        # Also those of earlier labels: whoever made them may have died before this line.
        told_of = [*added.known_alarms, *added.alarms]
        self._store.alarm_deliveries.expect(
            [each for alarm in told_of for each in deliveries_of(alarm, now)]
        )
        for alarm in added.alarms:
            told = {"what": alarm.what.value, "state": alarm.state.value}
            comparison = alarm.comparison_key
            log("diagnoser").warning("alarm", monitor=alarm.monitor, comparison=comparison, **told)
        return [*added.corrections, *added.alarms]

    def corrected(self, run: Run) -> list[Correction]:
        """Return what all labels so far make of a run's findings."""
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
        # Pairs first: after them nobody asks for the ids of answers.
        counted = self._rounds.counted(run, answers, samples, labels)
        answers = [each.without_ids() for each in answers]
        digest = labels_digest(each.id for each in labels)
        found = corrections(answers, samples, labels, plan)
        at = self._now()
        records = [self._record(each, run, plan, digest, at) for each in found]
        return self._rounds.added(records, counted)

    def _measured(
        self, run: Run, outline: SuiteOutline | None, samples: Sequence[LabelSample]
    ) -> Iterable[Case]:
        """Return what the sampled extractors read: of a suite's answers, or of a window's."""
        if outline is None:
            return window_cases(self._store, run, samples)
        instruments = {each.extractor for each in samples} - set(JUDGES)
        if not instruments:
            return []
        return (each for each in self._cases.read(run, outline) if each[1].extractor in instruments)

    def _record(
        self, found: FindingCorrection, run: Run, plan: AnalysisPlan, digest: str, at: datetime
    ) -> Correction:
        fields = {name: value for name, value in vars(found).items() if name != "key"}
        extractor = found.key.extractor
        return Correction(
            tenant=run.tenant,
            purpose=run.purpose,
            at=at,
            run_id=run.id,
            **vars(found.key),
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
