"""Evidence of a traffic monitor by stratum."""

from collections.abc import Iterable

from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.monitors.stored import stored_monitors
from biaswatch.shared.analysis.monitors.strata_views import StrataView, strata_view
from biaswatch.shared.contracts import Description, Evidence, Monitor, comparison_title
from biaswatch.shared.store import Store

MAX_WINDOWS = 500
"""Windows that are read; earlier ones are in the evidence and not in the strata."""


class StrataQueries:
    """Blocking queries of strata; call them in a thread."""

    def __init__(self, store: Store, monitors: MonitorQueries) -> None:
        self._store = store
        self._monitors = monitors

    def strata(self, name: str) -> list[StrataView]:
        """Return each comparison of a traffic monitor by stratum; empty without strata."""
        monitor = self._monitors.monitor(name)
        if monitor.plan.traffic is None or not monitor.plan.traffic.matched_within:
            return []
        [stored] = stored_monitors(self._store, [monitor])
        windows = self._store.rounds.latest(Description, monitor, MAX_WINDOWS)
        evidence = {part.comparison_key: part for part in stored.evidence}
        return [
            _view(monitor, evidence[watch.key], windows)
            for watch in monitor.plan.all_comparisons
            if watch.key in evidence
        ]


def _view(monitor: Monitor, evidence: Evidence, windows: Iterable[Description]) -> StrataView:
    """Return one comparison over the windows of its evidence."""
    since = evidence.shown.since_round if evidence.shown else 0
    covered = [window for window in windows if since <= window.round <= evidence.round]
    first = min((window.round for window in covered), default=evidence.round)
    traffic = monitor.plan.traffic
    return strata_view(
        evidence,
        title=comparison_title(evidence.comparison, monitor.plan.numbers),
        names=traffic.matched_within if traffic else (),
        described=[
            part
            for window in covered
            for part in window.described
            if part.comparison_key == evidence.comparison_key
        ],
        rounds=(first, evidence.round),
        alpha=monitor.plan.alpha,
    )
