"""What the gateway does with monitors: kept, changed, shown."""

from collections.abc import Callable
from datetime import datetime, timedelta

from services.gateway.domain.monitor_views import (
    Applied,
)
from services.gateway.domain.monitors import MonitorRequest
from services.gateway.domain.traffic_monitors import TrafficRequest, declared, kept_up
from services.gateway.handlers.desk import NotThereError
from shared.contracts import (
    Monitor,
    MonitorPlan,
    MonitorState,
    Purpose,
    Suite,
)
from shared.errors import UsageError
from shared.store import Store


class MonitorDesk:
    """The gateway's work on monitors; it blocks, so call it in a thread."""

    def __init__(
        self, store: Store, *, now: Callable[[], datetime], extractor_age_s: float
    ) -> None:
        self._store = store
        self._now = now
        self._extractor_age_s = extractor_age_s

    def apply(self, asked: MonitorRequest | TrafficRequest) -> Applied:
        """Keep what is asked of a monitor; the same file again changes nothing."""
        plan, upkeep = declared(asked, self._suite(asked)), kept_up(asked)
        self._check_measured(plan)
        last = self._last(asked.name)
        if last and (last.plan, last.upkeep, last.state) == (plan, upkeep, MonitorState.ACTIVE):
            return Applied(monitor=last, changed=False, anew=False)
        now = self._now()
        monitor = Monitor(
            purpose=Purpose.MONITOR,
            at=now,
            name=asked.name,
            moment_ms=_after(last, now),
            plan=plan,
            upkeep=upkeep,
            since=_since(last, plan, now),
        )
        self._store.records.write([monitor])
        goes_on = last is not None and last.monitor_id == monitor.monitor_id
        anew = not goes_on and not self._store.rounds.closed(monitor)
        return Applied(monitor=monitor, changed=True, anew=anew)

    def _suite(self, asked: MonitorRequest | TrafficRequest) -> Suite | None:
        if isinstance(asked, TrafficRequest):
            return None
        suite = self._store.suites.get(asked.suite_hash)
        if suite is None:
            raise NotThereError(f"There is no suite {asked.suite_hash}. Upload it first.")
        return suite

    def _check_measured(self, plan: MonitorPlan) -> None:
        """Refuse what nobody measures: its evidence would be missing for ever."""
        since = self._now() - timedelta(seconds=self._extractor_age_s)
        running = {each.name: each.features for each in self._store.extractors.running(since)}
        for watched in plan.features:
            if watched.extractor not in running:
                raise UsageError(
                    f"The extractor {watched.extractor} is not running; running are"
                    f" {', '.join(sorted(running)) or 'none'}. Start it, or watch another feature."
                )
            if watched.feature not in running[watched.extractor]:
                raise UsageError(
                    f"The extractor {watched.extractor} does not measure {watched.feature}; it"
                    f" measures {', '.join(sorted(running[watched.extractor])) or 'nothing'}."
                )

    def turned(self, name: str, state: MonitorState) -> Monitor:
        """Return the record that pauses, resumes or deletes a monitor."""
        last = self.monitor(name)
        now = self._now()
        if last.state is state:
            return last
        fields = {"at": now, "moment_ms": _after(last, now), "state": state}
        if state is MonitorState.ACTIVE:
            fields["since"] = now
        monitor = last.model_copy(update=fields)
        # A copy keeps what was computed of the original, its id among it.
        monitor = Monitor.model_validate(monitor.model_dump(exclude={"id"}))
        self._store.records.write([monitor])
        return monitor

    def monitor(self, name: str) -> Monitor:
        """Return what is wanted of a monitor now."""
        last = self._last(name)
        if last is None or last.state is MonitorState.DELETED:
            raise NotThereError(f"There is no monitor {name}. `biaswatch monitor list` lists them.")
        return last

    def latest(self) -> dict[str, Monitor]:
        """Return what is wanted of each monitor now, also of those that are deleted."""
        wanted = sorted(self._store.records.all(Monitor), key=lambda each: each.moment_ms)
        return {each.name: each for each in wanted}

    def _last(self, name: str) -> Monitor | None:
        return self.latest().get(name)


def _since(last: Monitor | None, plan: MonitorPlan, now: datetime) -> datetime:
    """Return when the first round is due; windows of traffic that wait to be read are not lost."""
    goes_on = last is not None and last.plan == plan and last.state is MonitorState.ACTIVE
    return last.since if last is not None and goes_on and plan.traffic is not None else now


def _after(last: Monitor | None, now: datetime) -> int:
    """Return a moment later than the last thing that was asked for, however quick the second is."""
    return max(int(now.timestamp() * 1000), last.moment_ms + 1 if last else 0)
