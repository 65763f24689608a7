"""One look at a resource: what the gateway has of it, what has to be asked for, what is told."""

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
    told_once,
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
    run_conditions,
    run_events,
    run_status,
    under_way,
    wanted_run,
)
from biaswatch.services.operator.domain.suites import (
    NOT_READY,
    SuiteNotReadyError,
    has_to_be_sent,
    suite_status,
)
from biaswatch.services.operator.handlers.gateway import GatewayApi
from biaswatch.shared.errors import NotFoundError, TransientError, UsageError

REFUSED, TAKEN, UNREACHABLE = "Refused", "NameTaken", "GatewayUnreachable"


@dataclass(frozen=True)
class Seen:
    """A resource as the API server has it."""

    meta: Mapping[str, Any]
    spec: Mapping[str, Any]
    status: Status


class Reconciler:
    """Brings the gateway to what resources say; what it knows is in the resources alone."""

    def __init__(self, gateway: GatewayApi, now: Callable[[], datetime]) -> None:
        self._gateway = gateway
        self._now = now

    async def suite(self, seen: Seen) -> Reconciled:
        """Have the gateway hold a suite, and say under which hash."""
        content, hash_ = seen.spec.get("content"), seen.status.get("hash")
        try:
            if content is None:
                hash_ = str(seen.spec.get("hash"))
            elif has_to_be_sent(seen.meta, seen.status):
                hash_ = await self._gateway.keep(content)
            found = await self._gateway.suite(str(hash_))
            if found is None and content is not None:
                found = await self._gateway.suite(await self._gateway.keep(content))
            if found is None:
                raise NotFoundError(f"There is no suite {hash_}. Upload it, or give its content.")
        except UsageError as refusal:
            return self._not_ready(seen, REFUSED, str(refusal), outcome="refused")
        except TransientError as error:
            return self._unknown(seen, error)
        return Reconciled(suite_status(seen.meta, seen.status, found, self._now()))

    async def monitor(
        self, seen: Seen, suites: Mapping[str, str], others: Iterable[Mapping[str, Any]]
    ) -> Reconciled:
        """Have the gateway watch what a BiasMonitor says, and tell what it finds."""
        if not is_owner(seen.meta, others):
            said = (
                f"Another BiasMonitor is the monitor {monitor_name(seen.meta, seen.spec)}. Delete"
                " one of them, or give this one another name (spec.name)."
            )
            return self._not_ready(seen, TAKEN, said, outcome="refused")
        try:
            wanted = wanted_monitor(seen.meta, seen.spec, suites)
        except SuiteNotReadyError as waiting:
            return await self._as_it_is(seen, NOT_READY, str(waiting), outcome="waiting")
        try:
            return await self._brought_about(seen, wanted)
        except UsageError as refusal:
            return await self._as_it_is(seen, REFUSED, str(refusal), outcome="refused")
        except TransientError as error:
            return self._unknown(seen, error)

    async def _brought_about(self, seen: Seen, wanted: WantedMonitor) -> Reconciled:
        found = await self._gateway.monitor(wanted.name)
        acts = decide(wanted, found, seen.status)
        status, events = dict(seen.status), []
        for act in acts:
            if act is not MonitorAct.APPLY:
                await self._gateway.change(wanted.name, act.value)
                events.append(ResourceEvent(f"{act.value.capitalize()}d", "As the resource says."))
                continue
            applied = await self._gateway.apply(wanted.file)
            status |= {"applied": wanted.fingerprint, "notes": applied.notes or None}
            status["suiteHash"] = wanted.file.get("suite_hash")
            if applied.changed:
                how = "Its evidence starts anew." if applied.anew else "Its evidence goes on."
                events.append(ResourceEvent("Applied", " ".join((how, *applied.notes))))
        if acts:
            found = await self._gateway.monitor(wanted.name)
        if found is None:
            said = "It was paused before it began: nothing is asked."
            ready = ResourceCondition(READY, Truth.TRUE, "Paused", said)
            return Reconciled(self._with(seen, ready))
        at = self._now()
        conditions = [ready_condition(found), *monitor_conditions(found, at)]
        events += alarm_events(seen.status, found)
        return Reconciled(monitor_status(seen.meta, status, found, conditions, at), events)

    async def _as_it_is(self, seen: Seen, reason: str, said: str, *, outcome: str) -> Reconciled:
        """Tell why a BiasMonitor is not carried out, and what the gateway has of it meanwhile."""
        ready = ResourceCondition(READY, Truth.FALSE, reason, said)
        events = told_once(seen.status, ready)
        try:
            found = await self._gateway.monitor(monitor_name(seen.meta, seen.spec))
        except (TransientError, UsageError):
            found = None
        if found is None or not seen.status.get("monitorId"):
            return Reconciled(self._with(seen, ready), events, outcome)
        at = self._now()
        events += alarm_events(seen.status, found)
        conditions = [ready, *monitor_conditions(found, at)]
        status = monitor_status(seen.meta, seen.status, found, conditions, at)
        return Reconciled(status, events, outcome)

    async def delete_monitor(self, seen: Seen, others: Iterable[Mapping[str, Any]]) -> None:
        """Delete the monitor of a BiasMonitor, unless another resource is the same monitor.

        A resource that never was one leaves a monitor of its name alone.

        Raises
        ------
        TransientError
            The gateway does not answer; try again.
        """
        if seen.status.get("monitorId") and not list(others):
            await self._gateway.delete(monitor_name(seen.meta, seen.spec))

    async def run(self, seen: Seen, suites: Mapping[str, str]) -> Reconciled:
        """Have the gateway carry out a run, and tell how far it is and what it found."""
        try:
            run_id = seen.status.get("run")
            if run_id is None:
                run_id = await self._gateway.start(wanted_run(seen.meta, seen.spec, suites))
            found = await self._gateway.run(str(run_id))
            diagnoses = await self._gateway.diagnoses(found.run_id)
        except SuiteNotReadyError as waiting:
            return self._not_ready(seen, NOT_READY, str(waiting), outcome="waiting")
        except UsageError as refusal:
            return self._not_ready(seen, REFUSED, str(refusal), outcome="refused")
        except TransientError as error:
            return self._unknown(seen, error)
        events = run_events(seen.status, found, run_conditions(found, diagnoses))
        at = self._now()
        return Reconciled(run_status(seen.meta, seen.status, found, diagnoses, at), events)

    async def cancel_run(self, seen: Seen) -> None:
        """End the run of a BiasRun that is deleted while it is under way.

        Raises
        ------
        TransientError
            The gateway does not answer; try again.
        """
        if run_id := under_way(seen.status):
            await self._gateway.cancel(run_id)

    def _not_ready(self, seen: Seen, reason: str, said: str, *, outcome: str) -> Reconciled:
        ready = ResourceCondition(READY, Truth.FALSE, reason, said)
        return Reconciled(self._with(seen, ready), told_once(seen.status, ready), outcome)

    def _unknown(self, seen: Seen, error: TransientError) -> Reconciled:
        ready = ResourceCondition(READY, Truth.UNKNOWN, UNREACHABLE, str(error))
        return Reconciled(self._with(seen, ready), outcome="unreachable")

    def _with(self, seen: Seen, ready: ResourceCondition) -> dict[str, Any]:
        """Return the status with another condition; what it said last stays."""
        told: dict[str, Any] = {"conditions": merged(seen.status, [ready], self._now())}
        if ready.status is not Truth.UNKNOWN:
            told["observedGeneration"] = seen.meta.get("generation")
        return {**seen.status, **told}
