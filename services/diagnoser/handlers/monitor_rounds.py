"""Rounds of monitors: each is read once, and its increments are added to the evidence."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime
from itertools import islice
from tempfile import TemporaryFile

from biaswatch.services.diagnoser.handlers.memory import SharedValues, gc_paused
from biaswatch.services.diagnoser.handlers.raised_alarms import log_alarms, record_deliveries
from biaswatch.services.diagnoser.handlers.traffic_windows import TrafficWindows
from biaswatch.shared.analysis.monitors.alarms import alarms
from biaswatch.shared.analysis.monitors.blocks import SuiteBlocks
from biaswatch.shared.analysis.monitors.evidence import (
    closed_round,
    evidence_of,
    increments_of,
    models_of,
    repeated_probes,
)
from biaswatch.shared.analysis.monitors.families import RoundVectors, merged_evidence, round_vectors
from biaswatch.shared.analysis.monitors.method import counted
from biaswatch.shared.analysis.monitors.round_answers import (
    Counts,
    PlannedAnswer,
    RoundAnswers,
    RoundData,
    RoundScope,
    Values,
)
from biaswatch.shared.caching import LatestResults
from biaswatch.shared.contracts import (
    Alarm,
    Completion,
    Description,
    Features,
    Monitor,
    MonitorPlan,
    Record,
    Response,
    Round,
    RoundEvidence,
    Run,
    features_id_of,
    response_id_of,
)
from biaswatch.shared.contracts.evidence_rows import evidence_rows, round_evidence
from biaswatch.shared.errors import PoisonError, TransientError
from biaswatch.shared.store import PlannedProbes, Store

SOON_S = 0.2
AT_ONCE = 500
"""Probes whose records are in memory together."""
MAX_KNOWN_BLOCKS = 8
"""Suites whose blocks of names and texts are kept in memory."""
KINDS: tuple[type[Record], ...] = (Round, RoundEvidence, Alarm, Description)
"""The records that a round produces."""


class CloseRounds:
    """Adds closed rounds to the evidence of their monitors, each once and in order.

    All records of a round are written in one transaction, before they are published. A repeat
    returns the same records, and reads no late answers.
    """

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._windows = TrafficWindows(store, now=now)
        self._now = now
        self._known_blocks = LatestResults[tuple[tuple[str, ...], str], SuiteBlocks](
            MAX_KNOWN_BLOCKS
        )

    def __call__(self, completion: Completion, run: Run) -> Sequence[Record]:
        """Close this round after any earlier ones that are still open; return their records.

        The completion of an earlier round may be a dead letter, or arrive later.

        Raises
        ------
        TransientError
            An earlier round has not ended, or is not completely in the store.
        """
        monitor = self._monitor(run)
        waiting = self._not_closed(run, monitor)
        for earlier in waiting:
            ended = completion if earlier.id == run.id else self._completion(earlier, monitor)
            before = self._store.rounds.get(monitor, (earlier.round or 0) - 1)
            with gc_paused():
                closed, data = self._read(earlier, monitor, ended, before)
                self._store.records.write(self._records(closed, data, monitor, before))
        # The store keeps the records of the replica that wrote first.
        records = [
            record
            for earlier in waiting or [run]
            for kind in KINDS
            for record in self._store.records.read(kind, run_id=earlier.id)
        ]
        for record in records:
            if isinstance(record, Description) and record.accounts is not None:
                self._store.window_answers.settle(record.run_id, record.accounts)
        raised = [record for record in records if isinstance(record, Alarm)]
        record_deliveries(self._store, raised, self._now())
        log_alarms(raised)
        return records

    def _read(
        self, run: Run, monitor: Monitor, ended: Completion, before: Round | None
    ) -> tuple[Round, RoundData]:
        """Return a closed round and its counts; a window is read through temporary files."""
        if run.window is None:
            models, cached = self._replies(run)
            closed = closed_round(run, monitor, ended, models, before, self._now())
            return closed, self._data(run, monitor, closed, cached)
        with ExitStack() as files:
            window = self._windows.read(
                run, monitor, ended, lambda: files.enter_context(TemporaryFile())
            )
            closed = closed_round(run, monitor, ended, window.models, before, self._now())
            return closed, self._windows.count(window, run, monitor, closed)

    def _not_closed(self, run: Run, monitor: Monitor) -> list[Run]:
        """Return the runs of this round and of the open rounds before it, the earliest first."""
        closed = self._store.rounds.closed(monitor)
        runs: list[Run] = []
        current: Run | None = run
        while current is not None and (current.round or 0) >= closed:
            runs.append(current)
            current = next(self._store.records.get(Run, filter(None, [current.before])), None)
        first = runs[-1] if runs else run
        if (first.round or 0) > closed:
            raise TransientError(
                f"Round {run.round} of the monitor {run.monitor_id} waits for the round before"
                f" round {first.round}, whose run is not in the store.",
                retry_after_s=SOON_S,
            )
        return runs[::-1]

    def _completion(self, run: Run, monitor: Monitor) -> Completion:
        """Return the last completion of an earlier round, once all its features are stored."""
        completions = self._store.records.read(Completion, run_id=run.id)
        last = max(completions, key=lambda completion: completion.opening, default=None)
        if last is None or (
            run.window is None  # a window itself checks which features it needs
            and self._store.records.count(Features, run_id=run.id) < last.arrived
        ):
            raise TransientError(
                f"Round {run.round} of the monitor {monitor.name} has to be closed first, and is"
                " not in the store whole.",
                retry_after_s=SOON_S,
            )
        return last

    def _monitor(self, run: Run) -> Monitor:
        monitors = list(self._store.records.of_monitor(Monitor, run.monitor_id or ""))
        if not monitors:
            raise PoisonError(f"The monitor of the run {run.id} is not in the store.")
        return max(monitors, key=lambda monitor: monitor.moment_ms)

    def _replies(self, run: Run) -> tuple[tuple[str, ...], set[str]]:
        """Return the models that answered, and the ids of probes that a cache answered."""
        reported, cached = set(), set()
        for reply in self._store.records.bodies(Response, run_id=run.id):
            reported.add((reply.get("model"), reply.get("fingerprint")))
            if reply.get("from_cache"):
                cached.add(reply["probe_id"])
        return models_of(reported), cached

    def _records(
        self, closed: Round, data: RoundData, monitor: Monitor, before: Round | None
    ) -> list[Record]:
        """Return the records of a closed round: increments, evidence and alarms."""
        kept = self._store.records.read(RoundEvidence, run_id=before.run_id) if before else ()
        last = evidence_rows(kept)
        increments = increments_of(closed, monitor.plan.all_comparisons, data.counted)
        blocks = self._blocks(monitor.plan)
        sums = self._sums(monitor)
        evidence = evidence_of(increments, last or (), closed, monitor, sums, blocks)
        vectors = RoundVectors()
        if data.answers is not None:
            vectors = round_vectors(monitor.plan.all_comparisons, data.answers)
        merged = merged_evidence(vectors, evidence, last, closed, before, monitor.plan)
        closed = closed.model_copy(update={"merged": merged})
        history = list(self._store.records.of_monitor(Alarm, closed.monitor_id))
        began_at = self._beginnings(monitor, closed)
        changes = alarms(monitor, closed, evidence, data.sets, history, began_at)
        return [closed, *round_evidence(increments, evidence), *changes, *data.described]

    def _beginnings(self, monitor: Monitor, closed: Round) -> Callable[[int], datetime | None]:
        """Return a function that looks up when a round, or its window, began."""

        def began_at(round_: int) -> datetime | None:
            is_current = round_ == closed.round
            earlier = closed if is_current else self._store.rounds.get(monitor, round_)
            runs = self._store.records.get(Run, [earlier.run_id] if earlier else [])
            run = next(runs, None)
            return None if run is None else run.window.begins if run.window else run.at

        return began_at

    def _sums(self, monitor: Monitor) -> Callable[[int, str], Counts]:
        """Return a function that looks up the counts of an epoch up to an earlier round."""

        def up_to(round_: int, key: str) -> Counts:
            earlier = self._store.rounds.get(monitor, round_)
            read = self._store.records.read
            kept = read(RoundEvidence, run_id=earlier.run_id) if earlier else ()
            evidence = evidence_rows(kept)
            if evidence is None or key not in evidence.keys:
                raise LookupError(f"Round {round_} of {monitor.name} has no evidence of {key}.")
            return evidence[evidence.keys.index(key)].counts

        return up_to

    def _data(self, run: Run, monitor: Monitor, closed: Round, cached: set[str]) -> RoundData:
        plan = monitor.plan
        answers = self._answers(run, repeated_probes(plan, closed, cached))
        scope = RoundScope(plan.claim, closed.round, blocks=self._blocks(plan))
        counts, sets = counted(plan.all_comparisons, answers, scope)
        return RoundData(counts, sets, answers=answers)

    def _blocks(self, plan: MonitorPlan) -> SuiteBlocks | None:
        """Return the blocks of a plan's suite; those of recent suites are cached."""
        outline = None if not plan.random else self._store.suites.outline(plan.suite_hash)
        if outline is None:
            return None
        every_probe = self._store.suites.every_probe
        return self._known_blocks.get(
            (plan.random, outline.hash),
            lambda: SuiteBlocks.of_probes(plan.random, every_probe(outline)),
        )

    def _answers(self, run: Run, is_repeated: Callable[[str], bool]) -> RoundAnswers:
        """Return an entry for every planned answer, also for missing ones."""
        suite = self._store.suites.outline(run.suite_hash)
        if suite is None:
            raise PoisonError(f"The suite {run.suite} ({run.suite_hash}) is not in the store.")
        shared, planned = SharedValues(), list[PlannedAnswer]()
        values: dict[str, list[Values]] = {pin.name: [] for pin in run.extractors}
        probes = PlannedProbes(self._store.suites, suite, run).read(run.at)
        while batch := list(islice(probes, AT_ONCE)):
            planned += (
                PlannedAnswer(
                    set=probe.set_id or probe.unit_id,
                    unit=probe.unit_id,
                    groups=shared.words(probe.groups),
                    response_id=response_id_of(probe),
                    is_repeated=is_repeated(probe.id),
                )
                for probe in batch
            )
            for pin in run.extractors:
                ids = [features_id_of(probe, pin.name, pin.version) for probe in batch]
                measured = {record.id: record for record in self._store.records.get(Features, ids)}
                values[pin.name] += (_values(measured.get(id_), shared) for id_ in ids)
        return RoundAnswers(planned, values)


def _values(features: Features | None, shared: SharedValues) -> Values:
    if features is None or features.unscorable:
        return None
    return shared.numbers(features.values)
