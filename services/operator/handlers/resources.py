"""Kubernetes resources: kopf handlers, and a check that the definitions are installed."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import httpx2
import kopf

from biaswatch.services.operator.domain.conditions import (
    FINALIZER,
    GROUP,
    MONITORS,
    RUNS,
    SUITES,
    VERSION,
    Reconciled,
    changed_fields,
)
from biaswatch.services.operator.domain.monitors import monitor_name
from biaswatch.services.operator.domain.suites import ready_hash
from biaswatch.services.operator.handlers.reconciling import Reconciler, Resource
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.telemetry import LOOKS, log

TIMEOUT_S = 10.0
OWNER_FIELDS = ("creationTimestamp", "uid", "deletionTimestamp")
Index = Mapping[Any, Iterable[Any]]
Arguments = Mapping[str, Any]
"""Keyword arguments of a kopf handler, which contain the indices."""
Reconcile = Callable[[Resource, Arguments], Awaitable[Reconciled]]
Finish = Callable[[Resource, Arguments], Awaitable[None]]


class NoDiffBase(kopf.DiffBaseStorage):
    """Stores no copy of the last handled resource: a suite would not fit into an annotation."""

    def fetch(self, **_: Any) -> None:
        """Return nothing."""

    def store(self, **_: Any) -> None:
        """Store nothing."""


def configure(settings: kopf.OperatorSettings) -> None:
    """Set what kopf writes to resources, and what it requests of the API server."""
    settings.persistence.finalizer = FINALIZER
    settings.persistence.diffbase_storage = NoDiffBase()
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=GROUP)
    # It may not list namespaces and definitions of the whole cluster.
    settings.scanning.disabled = True
    settings.posting.reporting_component = "biaswatch"
    settings.posting.reporting_instance = "operator"
    settings.posting.event_name_prefix = "biaswatch-"


def registry_of(reconciler: Reconciler, interval_s: float) -> kopf.OperatorRegistry:
    """Return the handlers of every kind of resource."""
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry)(login)
    kopf.index(GROUP, VERSION, SUITES, id="suite_hashes", registry=registry)(_suite_hash)
    kopf.index(GROUP, VERSION, MONITORS, id="monitor_names", registry=registry)(_monitor_name)

    async def suite(resource: Resource, _: Arguments) -> Reconciled:
        return await reconciler.suite(resource)

    async def monitor(resource: Resource, arguments: Arguments) -> Reconciled:
        suites, others = _suites(resource, arguments), _others(resource, arguments)
        return await reconciler.monitor(resource, suites, others)

    async def run(resource: Resource, arguments: Arguments) -> Reconciled:
        return await reconciler.run(resource, _suites(resource, arguments))

    async def delete_monitor(resource: Resource, arguments: Arguments) -> None:
        await reconciler.delete_monitor(resource, _others(resource, arguments))

    async def cancel_run(resource: Resource, _: Arguments) -> None:
        await reconciler.cancel_run(resource)

    _register(registry, SUITES, suite, interval_s)
    _register(registry, MONITORS, monitor, interval_s)
    _register(registry, RUNS, run, interval_s)
    _register_deletion(registry, MONITORS, delete_monitor, interval_s)
    _register_deletion(registry, RUNS, cancel_run, interval_s)
    return registry


def _register(
    registry: kopf.OperatorRegistry, plural: str, reconcile: Reconcile, interval_s: float
) -> None:
    """Reconcile a kind of resource at intervals, and when a resource changes."""

    async def reconcile_now(patch: kopf.Patch, memo: kopf.Memo, **arguments: Any) -> None:
        async with _lock_of(memo):
            body = arguments["body"]
            if "deletionTimestamp" in body["metadata"]:
                return
            resource = _resource(body)
            reconciled = await reconcile(resource, arguments)
            LOOKS.labels(plural, reconciled.outcome).inc()
            for event in reconciled.events:
                kind = "Warning" if event.warning else "Normal"
                kopf.event(body, type=kind, reason=event.reason, message=event.message)
            for name, value in changed_fields(resource.status, reconciled.status).items():
                patch.status[name] = value

    async def reconcile_change(body: kopf.Body, **arguments: Any) -> None:
        meta = body["metadata"]
        observed = body.get("status", {}).get("observedGeneration")
        if FINALIZER in meta.get("finalizers", ()) and observed not in (None, meta["generation"]):
            await reconcile_now(body=body, **arguments)

    kopf.timer(
        GROUP,
        VERSION,
        plural,
        interval=interval_s,
        backoff=interval_s,
        id="look",
        registry=registry,
    )(reconcile_now)
    kopf.on.event(GROUP, VERSION, plural, id="change", registry=registry)(reconcile_change)


def _register_deletion(
    registry: kopf.OperatorRegistry, plural: str, finish: Finish, retry_s: float
) -> None:
    """Delay the deletion of a resource until the gateway has done its part."""

    async def delete(memo: kopf.Memo, body: kopf.Body, **arguments: Any) -> None:
        async with _lock_of(memo):
            try:
                await finish(_resource(body), arguments)
            except TransientError as error:
                name = body["metadata"]["name"]
                log("operator").warning("a deletion waits", of=name, why=str(error))
                raise kopf.TemporaryError(str(error), delay=retry_s) from None

    kopf.on.delete(GROUP, VERSION, plural, registry=registry)(delete)


def login(**arguments: Any) -> Any:
    """Return the connection to the API server: from within the cluster, or by a kubeconfig."""
    return kopf.login_with_service_account(**arguments) or kopf.login_with_kubeconfig(**arguments)


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


def _resource(body: kopf.Body) -> Resource:
    return Resource(dict(body["metadata"]), dict(body["spec"]), dict(body.get("status", {})))


def _lock_of(memo: kopf.Memo) -> asyncio.Lock:
    """Return the lock that keeps reconciliations of a resource from overlapping."""
    lock: asyncio.Lock = memo.setdefault("lock", asyncio.Lock())
    return lock


async def missing_definitions() -> str | None:
    """Return why the resources are not served yet; None once they are.

    Raises
    ------
    ConfigurationError
        The address of the API server is not configured.
    """
    connection = login(settings=kopf.OperatorSettings())
    if connection is None:
        raise ConfigurationError(
            "There is neither a service account nor a kubeconfig. Run the operator in a pod of a"
            " cluster, or set KUBECONFIG."
        )
    try:
        async with httpx2.AsyncClient(
            verify=connection.as_ssl_context(),
            headers=connection.as_http_headers(),
            timeout=TIMEOUT_S,
        ) as http:
            reply = await http.get(f"{connection.server.rstrip('/')}/apis/{GROUP}/{VERSION}")
            if not reply.is_success:
                return f"the API server answers HTTP {reply.status_code} for {GROUP}/{VERSION}"
            served = {resource["name"] for resource in reply.json().get("resources", ())}
    except (httpx2.HTTPError, json.JSONDecodeError) as error:
        return f"the API server does not answer ({type(error).__name__})"
    missing = sorted({MONITORS, SUITES, RUNS} - served)
    return f"not served are {', '.join(missing)}" if missing else None
