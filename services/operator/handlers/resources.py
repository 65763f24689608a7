"""Kubernetes resources: each is reconciled at intervals, and when it changes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import kopf

from biaswatch.services.operator.domain.conditions import (
    GROUP,
    MONITORS,
    RUNS,
    SEARCHES,
    SUITES,
    VERSION,
    Reconciled,
    changed_fields,
)
from biaswatch.services.operator.domain.monitors import monitor_name
from biaswatch.services.operator.domain.suites import ready_hash
from biaswatch.services.operator.handlers.cleanup import Cleanup
from biaswatch.services.operator.handlers.cluster import ClusterApi, login
from biaswatch.services.operator.handlers.reconciling import Reconciler, Resource
from biaswatch.shared.errors import BiaswatchError, NotFoundError
from biaswatch.shared.telemetry import OPERATOR_LOOKS, log

OWNER_FIELDS = ("creationTimestamp", "uid", "deletionTimestamp")
Index = Mapping[Any, Iterable[Any]]
Arguments = Mapping[str, Any]
"""Keyword arguments of a kopf handler, which contain the indices."""
Reconcile = Callable[[Resource, Arguments], Awaitable[Reconciled]]


def configure(settings: kopf.OperatorSettings) -> None:
    """Set what kopf requests of the API server, and how its events are named."""
    # It may not list namespaces and definitions of the whole cluster.
    settings.scanning.disabled = True
    settings.posting.reporting_component = "biaswatch"
    settings.posting.reporting_instance = "operator"
    settings.posting.event_name_prefix = "biaswatch-"


def registry_of(
    reconciler: Reconciler, cluster: ClusterApi, cleanup: Cleanup, interval_s: float
) -> kopf.OperatorRegistry:
    """Return the handlers of every kind of resource."""
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry)(login)
    kopf.index(GROUP, VERSION, SUITES, id="suite_hashes", registry=registry)(_suite_hash)
    kopf.index(GROUP, VERSION, MONITORS, id="monitor_names", registry=registry)(_monitor_name)

    async def suite(resource: Resource, _: Arguments) -> Reconciled:
        return await reconciler.suite(resource)

    async def monitor(resource: Resource, arguments: Arguments) -> Reconciled:
        suites, other_resources = _suites(resource, arguments), _others(resource, arguments)
        return await reconciler.monitor(resource, suites, other_resources)

    async def run(resource: Resource, arguments: Arguments) -> Reconciled:
        return await reconciler.run(resource, _suites(resource, arguments))

    async def search(resource: Resource, _: Arguments) -> Reconciled:
        return await reconciler.search(resource)

    kinds = ((SUITES, suite), (MONITORS, monitor), (RUNS, run), (SEARCHES, search))
    for plural, reconcile in kinds:
        loops = ResourceLoops(plural, reconcile, cluster, cleanup, interval_s)
        kopf.on.event(GROUP, VERSION, plural, id="change", registry=registry)(loops.on_event)
    return registry


class ResourceLoops:
    """Reconciles each resource of a kind in its own task while it exists.

    Timers of kopf would put a finalizer on every resource, and a namespace that is deleted with its
    operator would never end.
    """

    def __init__(
        self, plural: str, reconcile: Reconcile, cluster: ClusterApi, cleanup: Cleanup,
        interval_s: float,
    ) -> None:  # fmt: skip
        self._plural, self._reconcile = plural, reconcile
        self._cluster, self._cleanup = cluster, cleanup
        self._interval_s = interval_s

    async def on_event(self, body: kopf.Body, memo: kopf.Memo, **arguments: Any) -> None:
        """Handle an event of kopf's watch: start, wake up or end the task of a resource."""
        if arguments["type"] == "DELETED":
            memo["gone"] = True
            if "changed" in memo:
                memo["changed"].set()
            return
        raw = dict(body)
        previous = memo.get("body")
        if previous is not None and _version(raw) < _version(previous):
            return
        memo["body"] = raw
        if "task" not in memo:
            memo["changed"] = asyncio.Event()
            memo["task"] = asyncio.create_task(self._run(memo, arguments))
        elif raw["metadata"]["generation"] != memo.get("generation"):
            memo["changed"].set()

    async def _run(self, memo: kopf.Memo, arguments: Arguments) -> None:
        """Reconcile a resource at intervals, and when its spec changes, until it is deleted."""
        while "gone" not in memo:
            memo["changed"].clear()
            memo["generation"] = memo["body"]["metadata"]["generation"]
            try:
                await self._reconcile_now(memo, arguments)
            except NotFoundError:
                pass  # it was deleted meanwhile
            except BiaswatchError as error:
                log("operator").warning("a status is not written", why=str(error))
            except Exception as error:  # noqa: BLE001 - the next look is made in any case
                why = f"{type(error).__name__}: {error}"
                log("operator").error("a resource is not reconciled", why=why)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._interval_s):
                    await memo["changed"].wait()
        self._cleanup.deleted.set()

    async def _reconcile_now(self, memo: kopf.Memo, arguments: Arguments) -> None:
        body = memo["body"]
        if "deletionTimestamp" in body["metadata"]:
            return
        resource = Resource(body["metadata"], body["spec"], body.get("status", {}))
        reconciled = await self._reconcile(resource, arguments)
        OPERATOR_LOOKS.labels(self._plural, reconciled.outcome).inc()
        await self._cleanup.record(self._plural, resource.meta, resource.spec, reconciled.status)
        for event in reconciled.events:
            kind = "Warning" if event.warning else "Normal"
            kopf.event(kopf.Body(body), type=kind, reason=event.reason, message=event.message)
        if changed := changed_fields(resource.status, reconciled.status):
            memo["body"] = await self._cluster.write_status(self._plural, resource.meta, changed)


def _version(body: Mapping[str, Any]) -> int:
    return int(body["metadata"]["resourceVersion"])


def _suite_hash(body: kopf.Body, **_: Any) -> Any:
    meta = body["metadata"]
    suite_hash = ready_hash(dict(meta), body.get("status", {}))
    return {meta["namespace"]: (meta["name"], suite_hash)} if suite_hash else None


def _monitor_name(body: kopf.Body, **_: Any) -> Any:
    meta = body["metadata"]
    fields = {key: meta[key] for key in OWNER_FIELDS if key in meta}
    return {monitor_name(meta, body["spec"]): fields}


def _suites(resource: Resource, arguments: Arguments) -> dict[str, str]:
    index: Index = arguments["suite_hashes"]
    return dict(index.get(resource.meta["namespace"], ()))


def _others(resource: Resource, arguments: Arguments) -> list[Mapping[str, Any]]:
    """Return the other resources of the same monitor, without deleted ones."""
    index: Index = arguments["monitor_names"]
    return [
        other
        for other in index.get(monitor_name(resource.meta, resource.spec), ())
        if other["uid"] != resource.meta["uid"] and "deletionTimestamp" not in other
    ]
