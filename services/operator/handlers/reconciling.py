"""Reconciliation of one resource: read the gateway, request changes, update the status."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from biaswatch.services.operator.domain.conditions import (
    READY,
    Reconciled,
    ResourceCondition,
    ResourceEvent,
    Status,
    Truth,
    merged,
    not_ready_events,
)
from biaswatch.services.operator.domain.monitors import (
    MonitorAct,
    WantedMonitor,
    alarm_events,
    decide,
    is_owner,
    monitor_conditions,
    monitor_name,
    monitor_status,
    ready_condition,
    wanted_monitor,
)
from biaswatch.services.operator.domain.runs import (
    FAILED,
    run_conditions,
    run_events,
    run_request,
    run_status,
)
from biaswatch.services.operator.domain.searches import (
    has_to_start,
    search_conditions,
    search_events,
    search_status,
)
from biaswatch.services.operator.domain.suites import (
    NOT_READY,
    SuiteNotReadyError,
    ready_hash,
    suite_status,
)
from biaswatch.services.operator.handlers.gateway import GatewayApi
from biaswatch.shared.errors import NotFoundError, TransientError, UsageError

REFUSED, NAME_TAKEN, UNREACHABLE = "Refused", "NameTaken", "GatewayUnreachable"


@dataclass(frozen=True)
class Resource:
    """A resource as the API server has it."""

    meta: Mapping[str, Any]
    spec: Mapping[str, Any]
    status: Status


@dataclass(frozen=True)
class Reconciler:
    """Makes the gateway match resources; it keeps no state of its own."""

    gateway: GatewayApi
    now: Callable[[], datetime]

    async def suite(self, resource: Resource) -> Reconciled:
        """Upload a suite if needed, and report its hash."""
        content, suite_hash = resource.spec.get("content"), resource.status.get("hash")
        try:
            if content is None:
                suite_hash = str(resource.spec.get("hash"))
            elif ready_hash(resource.meta, resource.status) is None:
                suite_hash = await self.gateway.upload(content)
            suite = await self.gateway.suite(str(suite_hash))
            if suite is None and content is not None:
                suite = await self.gateway.suite(await self.gateway.upload(content))
            if suite is None:
                raise NotFoundError(
                    f"There is no suite {suite_hash}. Upload it, or give its content."
                )
        except UsageError as error:
            return self._not_ready(resource, REFUSED, str(error), outcome="refused")
        except TransientError as error:
            return self._unknown(resource, error)
        return Reconciled(suite_status(resource.meta, resource.status, suite, self.now()))

    async def monitor(
        self, resource: Resource, suites: Mapping[str, str], monitors: Iterable[Mapping[str, Any]]
    ) -> Reconciled:
        """Make the gateway's monitor match a BiasMonitor, and report its findings."""
        if not is_owner(resource.meta, monitors):
            message = (
                f"Another BiasMonitor is the monitor {monitor_name(resource.meta, resource.spec)}."
                " Delete one of them, or give this one another name (spec.name)."
            )
            return self._not_ready(resource, NAME_TAKEN, message, outcome="refused")
        try:
            wanted = wanted_monitor(resource.meta, resource.spec, suites)
        except SuiteNotReadyError as error:
            return await self._unchanged(resource, NOT_READY, str(error), outcome="waiting")
        try:
            return await self._changed(resource, wanted)
        except UsageError as error:
            return await self._unchanged(resource, REFUSED, str(error), outcome="refused")
        except TransientError as error:
            return self._unknown(resource, error)

    async def _changed(self, resource: Resource, wanted: WantedMonitor) -> Reconciled:
        """Request the changes that a monitor needs, and report its new state."""
        view = await self.gateway.monitor(wanted.name)
        acts = decide(wanted, view, resource.status)
        status, events = dict(resource.status), []
        for act in acts:
            if act is not MonitorAct.APPLY:
                await self.gateway.change(wanted.name, act.value)
                events.append(ResourceEvent(f"{act.value.capitalize()}d", "As the resource says."))
                continue
            applied = await self.gateway.apply(wanted.file)
            status |= {"applied": wanted.fingerprint, "notes": applied.notes or None}
            status["suiteHash"] = wanted.file.get("suite_hash")
            if applied.changed:
                evidence = "Its evidence starts anew." if applied.anew else "Its evidence goes on."
                events.append(ResourceEvent("Applied", " ".join((evidence, *applied.notes))))
        if acts:
            view = await self.gateway.monitor(wanted.name)
        if view is None:
            message = "It was paused before its first run and sends no calls."
            ready = ResourceCondition(READY, Truth.TRUE, "Paused", message)
            return Reconciled(self._with_ready(resource, ready))
        at = self.now()
        conditions = [ready_condition(view), *monitor_conditions(view, at)]
        events += alarm_events(resource.status, view)
        return Reconciled(monitor_status(resource.meta, status, view, conditions, at), events)

    async def _unchanged(
        self, resource: Resource, reason: str, message: str, *, outcome: str
    ) -> Reconciled:
        """Report why a BiasMonitor is not applied, and the state of its current monitor."""
        ready = ResourceCondition(READY, Truth.FALSE, reason, message)
        events = not_ready_events(resource.status, ready)
        try:
            view = await self.gateway.monitor(monitor_name(resource.meta, resource.spec))
        except (TransientError, UsageError):
            view = None
        if view is None or not resource.status.get("monitorId"):
            return Reconciled(self._with_ready(resource, ready), events, outcome)
        at = self.now()
        events += alarm_events(resource.status, view)
        conditions = [ready, *monitor_conditions(view, at)]
        status = monitor_status(resource.meta, resource.status, view, conditions, at)
        return Reconciled(status, events, outcome)

    async def run(self, resource: Resource, suites: Mapping[str, str]) -> Reconciled:
        """Start the run of a BiasRun once, and report its progress and findings."""
        try:
            run_id = resource.status.get("run")
            if run_id is None:
                request = run_request(resource.meta, resource.spec, suites)
                run_id = await self.gateway.start(request)
            progress = await self.gateway.run(str(run_id))
            diagnoses = await self.gateway.diagnoses(progress.run_id)
        except SuiteNotReadyError as error:
            return self._not_ready(resource, NOT_READY, str(error), outcome="waiting")
        except UsageError as error:
            return self._refused(resource, error)
        except TransientError as error:
            return self._unknown(resource, error)
        conditions = run_conditions(progress, diagnoses)
        events = run_events(resource.status, progress, conditions)
        status = run_status(resource.meta, resource.status, progress, diagnoses, self.now())
        return Reconciled(status, events)

    async def search(self, resource: Resource) -> Reconciled:
        """Start the search of a BiasSearch, raise its budget, and report its findings."""
        try:
            search_id = resource.status.get("search")
            if has_to_start(resource.spec, resource.status):
                search_id = await self.gateway.start_search(resource.spec)
            view = await self.gateway.search(str(search_id))
        except UsageError as error:
            return self._refused(resource, error)
        except TransientError as error:
            return self._unknown(resource, error)
        conditions = search_conditions(view)
        events = search_events(resource.status, view, conditions)
        status = search_status(resource.meta, resource.status, view, conditions, self.now())
        return Reconciled(status, events)

    def _not_ready(
        self,
        resource: Resource,
        reason: str,
        message: str,
        *conditions: ResourceCondition,
        outcome: str,
    ) -> Reconciled:
        ready = ResourceCondition(READY, Truth.FALSE, reason, message)
        events = not_ready_events(resource.status, ready)
        return Reconciled(self._with_ready(resource, ready, *conditions), events, outcome)

    def _refused(self, resource: Resource, error: UsageError) -> Reconciled:
        failed = ResourceCondition(FAILED, Truth.TRUE, REFUSED, str(error))
        return self._not_ready(resource, REFUSED, str(error), failed, outcome="refused")

    def _unknown(self, resource: Resource, error: TransientError) -> Reconciled:
        ready = ResourceCondition(READY, Truth.UNKNOWN, UNREACHABLE, str(error))
        return Reconciled(self._with_ready(resource, ready), outcome="unreachable")

    def _with_ready(
        self, resource: Resource, ready: ResourceCondition, *conditions: ResourceCondition
    ) -> dict[str, Any]:
        """Return the status with new conditions, otherwise unchanged."""
        changed = merged(resource.status, [ready, *conditions], self.now())
        fields: dict[str, Any] = {"conditions": changed}
        if ready.status is not Truth.UNKNOWN:
            fields["observedGeneration"] = resource.meta.get("generation")
        return {**resource.status, **fields}
