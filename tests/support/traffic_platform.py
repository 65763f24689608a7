"""Gateway, extractor, planner and diagnoser of traffic on one store, without a bus."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from biaswatch.services.diagnoser.handlers import CloseRounds, DiagnoseRun, OnCompletion
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.planner.handlers.monitor_rounds import RoundScheduler
from biaswatch.services.planner.handlers.runs import RunPlanner, completion_of
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Description,
    Exchange,
    ExtractorStatus,
    Features,
    Increment,
    Monitor,
    Record,
    Response,
    RoundEvidence,
    Run,
    Window,
)
from biaswatch.shared.contracts.evidence_rows import evidence_in, increments_in
from biaswatch.shared.store import Store
from tests.support.planned import planned
from tests.support.records import make_exchange, make_traffic_monitor

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
LATE = timedelta(seconds=60)
MONITOR = make_traffic_monitor(since=NOON)


class TrafficPlatform:
    """Gateway, extractor, planner and diagnoser on one store, with a clock that a test moves."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.time = NOON
        self.version = "1"
        self.ingest = ExchangeIngestion(store, now=self.now)
        self.rounds = RoundScheduler(store, now=self.now, wall=self.now)
        self.plans = RunPlanner(store, now=self.now, deadline_s=60)
        diagnose = DiagnoseRun(store, now=self.now, plan=AnalysisPlan(alpha=0.05, tolerance=0))
        watch = CloseRounds(store, now=self.now)
        self.complete = OnCompletion(store, diagnose, watch, now=self.now)
        self.announce()

    def now(self) -> datetime:
        """Return the time of the platform."""
        return self.time

    def announce(self) -> None:
        """Say that the extractor runs."""
        forever = NOON + timedelta(days=365 + int(self.version))
        self.store.extractors.announce(ExtractorStatus("words", self.version, ("words",), forever))

    def hear(self, *exchanges: Exchange) -> list[Response]:
        """Take answers in, and measure them by the version that runs."""
        responses = list(self.ingest(exchanges))
        self.store.records.write([*responses, *(self.measured(item) for item in responses)])
        return responses

    def measured(self, response: Response) -> Features:
        """Return what the extractor reads from a response."""
        return Features(
            purpose=response.purpose, at=self.time, run_id=response.run,
            probe_id=response.probe.id, response_id=response.id, unit_id=response.unit,
            extractor="words", extractor_version=self.version,
            values={"words": float(len((response.text or "").split()))},
        )  # fmt: skip

    def read(self, at: datetime) -> list[Window | None]:
        """Let the planner look at this time, and close what it began; give the windows."""
        self.time = at
        windows = []
        while runs := self.rounds.start_due():
            for run in runs:
                planned(self.store, self.plans, run)
                self.close(run)
                windows.append(run.window)
        return windows

    def close(self, run: Run) -> list[Record]:
        """Close what is due of a window."""
        gathers = self.store.gathers(RUN_GATHER)
        gathers.expire(self.time)
        left: list[Record] = []
        for closing in gathers.due():
            [completion] = completion_of(closing)
            self.store.records.write([completion])
            left.extend(self.complete(completion))
            gathers.emitted(closing.key, self.time)
        return left

    def increments(self) -> list[Increment]:
        """Return what every window has added."""
        kept = self.store.records.of_monitor(RoundEvidence, MONITOR.monitor_id)
        return list(increments_in(kept))

    def units(self, monitor: Monitor = MONITOR) -> int:
        """Return the units in the evidence about words."""
        evidence = evidence_in(self.store.records.of_monitor(RoundEvidence, monitor.monitor_id))
        words = [item for item in evidence if item.comparison.watched.feature == "words"]
        return max(words, key=lambda item: item.round).units

    def descriptions(self) -> list[Description]:
        """Return what windows looked like, in their order."""
        result = self.store.records.of_monitor(Description, MONITOR.monitor_id)
        return sorted(result, key=lambda description: description.round)


def said(
    users: Iterable[int], at: datetime, source: str = "support", taken_at: datetime | None = None
) -> list[Exchange]:
    """Return an answer for each of some users."""
    return [
        make_exchange(n, said_at=at, at=taken_at or at, key=f"{n}@{at.isoformat()}", source=source)
        for n in users
    ]
