"""Reads what the overview and the platform's own pages show."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from biaswatch.services.gateway.dashboard.audit_names import names_of
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.study_queries import MOST_SCORED, StudyQueries
from biaswatch.services.gateway.status.queries import StatusQueries
from biaswatch.shared.contracts import (
    AuditAction,
    AuditEntry,
    ExtractorStatus,
    OwnGap,
    Round,
    Run,
    UnwatchedSource,
)
from biaswatch.shared.presentation.latest_runs import RunScored, RunSpent
from biaswatch.shared.presentation.operation_tables import TrafficSource
from biaswatch.shared.requests.run_views import RunProgress
from biaswatch.shared.store import Store
from biaswatch.shared.store.audit import AuditFilter

MOST_WINDOWS = 24
MOST_ENTRIES = 200
MOST_NOTES = 20
MOST_ROUNDS = 10
"""Of a monitor, by which its spending is told."""
ACKNOWLEDGED = AuditAction.ALARM_ACKNOWLEDGE.value


OF_TOO_MANY = "of more questions than a page computes; `biaswatch show` prints them"
ON_ITS_PAGE = "not computed yet: its page shows them, and so does this one when it is loaded anew"


@dataclass(frozen=True)
class MonitorRounds:
    """The last rounds of a monitor."""

    rounds: int
    spent: RunSpent
    """By all of them together."""
    began: Round | None
    """The round that began their epoch, and why; None where it is the first."""
    began_at: datetime | None
    """When: of traffic, when the window began."""


class OverviewQueries:
    """Reads the platform as a whole; it blocks, so call it in a thread."""

    def __init__(
        self, store: Store, monitors: MonitorQueries, status: StatusQueries, studies: StudyQueries
    ) -> None:
        self.status = status
        self._studies = studies
        self._store = store
        self._monitors = monitors

    def spent(self, runs: Iterable[RunProgress]) -> dict[str, RunSpent]:
        """Return what runs have spent."""
        found = self._store.calls.spending(each.run_id for each in runs)
        return {run_id: RunSpent(each.tokens, each.cost) for run_id, each in found.items()}

    def scored(self, runs: Iterable[RunProgress]) -> dict[str, RunScored]:
        """Return the bias scores of the runs that have some, or why they are not shown.

        Of those that nobody has looked at yet, so many are computed that nobody waits long.
        """
        found, left = {}, MOST_SCORED
        for each in (run for run in runs if run.ended):
            known = self._studies.knows_scores(each)
            if scored := self._scored(each, MOST_SCORED if known else left):
                found[each.run_id] = scored
                left -= each.probes if scored.scores and not known else 0
        return found

    def _scored(self, run: RunProgress, most: int) -> RunScored | None:
        if run.probes > most:
            reason = OF_TOO_MANY if run.probes > MOST_SCORED else ON_ITS_PAGE
            return RunScored((), reason) if self._studies.has_scores(run.run_id) else None
        scores = self._studies.scores(run)
        return RunScored(scores) if scores else None

    def rounds(self, name: str) -> MonitorRounds | None:
        """Return what a monitor's last rounds have spent, and what began their epoch."""
        monitor = self._monitors.monitor(name)
        latest = self._store.rounds.latest(Round, monitor, MOST_ROUNDS)
        if not latest:
            return None
        found = self._store.calls.spending([each.run_id for each in latest])
        tokens = sum(each.tokens for each in found.values())
        spent = RunSpent(tokens, sum(each.cost for each in found.values()))
        began = latest[-1].began_with
        first = self._store.rounds.get(monitor, began) if began else None
        return MonitorRounds(len(latest), spent, first, self._began_at(first))

    def _began_at(self, first: Round | None) -> datetime | None:
        if first is None:
            return None
        run = next(self._store.records.get(Run, [first.run_id]), None)
        return run.window.begins if run and run.window else first.at

    def extractors(self) -> list[ExtractorStatus]:
        """Return every extractor and version."""
        return self._store.extractors.ever()

    def own_gaps(self, statuses: Iterable[ExtractorStatus]) -> list[tuple[ExtractorStatus, OwnGap]]:
        """Return what extractors make of groups' names by themselves."""
        find = self._store.calibrations.find
        return [(each, own) for each in statuses for own in find(each.name, each.version)]

    def sources(self) -> list[TrafficSource]:
        """Return the live systems that are watched."""
        found = []
        for each in self._monitors.statuses():
            monitor = self._monitors.monitor(each.name)
            if monitor.plan.traffic is not None:
                accounts = self._store.window_answers.accounts(monitor.monitor_id)
                windows = self._monitors.windows(each.name, MOST_WINDOWS)
                found.append(TrafficSource(each.name, each.target, each.state, accounts, windows))
        return found

    def unwatched(self) -> list[UnwatchedSource]:
        """Return the live systems of which answers come that nobody watches."""
        return self._store.unwatched_answers.read()

    def audit(self, wanted: AuditFilter) -> list[AuditEntry]:
        """Return the latest entries of the caller's tenant."""
        return self._store.audit.latest(MOST_ENTRIES, wanted)

    def audited_names(self, entries: Iterable[AuditEntry]) -> dict[str, str]:
        """Return what runs and interpretations are called that entries name by their ids."""
        return names_of(entries, self._store)

    def acknowledgements(self, alarm_ids: Iterable[str]) -> dict[str, list[AuditEntry]]:
        """Return who has acknowledged alarms, the latest first; the audit trail keeps it."""
        return {
            id_: [each for each in found if each.failure is None]
            for id_ in alarm_ids
            for found in [
                self._store.audit.latest(MOST_NOTES, AuditFilter(id_, None, ACKNOWLEDGED))
            ]
            if found
        }
