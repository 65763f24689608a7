"""Evidence of a traffic monitor by stratum."""

from collections.abc import Iterable

from biaswatch.services.gateway.monitors.queries import MonitorQueries, stored_monitors
from biaswatch.shared.analysis.monitors.strata_views import StrataView, strata_view
from biaswatch.shared.contracts import Described, Description, Evidence, Monitor, comparison_title
from biaswatch.shared.store import Store

MOST_WINDOWS = 500
"""The last ones; what lies before is in the evidence and not in the strata."""


class StrataQueries:
    """Reads strata; it blocks, so call it in a thread."""

    def __init__(self, store: Store, monitors: MonitorQueries) -> None:
        self._store = store
        self._monitors = monitors

    def strata(self, name: str) -> list[StrataView]:
        """Return each comparison of a traffic monitor by stratum; none where none is declared."""
        monitor = self._monitors.monitor(name)
        if monitor.plan.traffic is None or not monitor.plan.traffic.strata:
            return []
        [found] = stored_monitors(self._store, [monitor])
        windows = self._store.rounds.latest(Description, monitor, MOST_WINDOWS)
        by_key = {each.comparison_key: each for each in found.evidence}
        return [
            _view(monitor, by_key[each.key], windows)
            for each in monitor.plan.watched
            if each.key in by_key
        ]


def _view(monitor: Monitor, evidence: Evidence, windows: Iterable[Description]) -> StrataView:
    """Return one comparison over the windows that its evidence is about."""
    since = evidence.shown.since_round if evidence.shown else 0
    mine = [each for each in windows if since <= each.round <= evidence.round]
    first = min((each.round for each in mine), default=evidence.round)
    traffic = monitor.plan.traffic
    return strata_view(
        evidence,
        title=comparison_title(evidence.comparison, monitor.plan.numbers),
        names=traffic.strata if traffic else (),
        described=[part for each in mine for part in _about(each, evidence.comparison_key)],
        rounds=(first, evidence.round),
        alpha=monitor.plan.alpha,
    )


def _about(window: Description, key: str) -> Iterable[Described]:
    return (each for each in window.described if each.comparison_key == key)
