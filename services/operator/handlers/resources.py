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
    differing,
)
from biaswatch.services.operator.domain.monitors import monitor_name
from biaswatch.services.operator.domain.suites import offered_hash
from biaswatch.services.operator.handlers.reconciling import Reconciler, Seen
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.telemetry import LOOKS, log

Index = Mapping[Any, Iterable[Any]]
Look = Callable[[Seen, Mapping[str, Any]], Awaitable[Reconciled]]
"""Looks at a resource; with kopf's arguments, among which the indices are."""


class NoDiffBase(kopf.DiffBaseStorage):
    """Keeps no copy of what was handled last: a suite would not fit into an annotation."""

    def fetch(self, **_: Any) -> None:
        """Return nothing: none is kept."""

    def store(self, **_: Any) -> None:
        """Keep nothing."""


def configure(settings: kopf.OperatorSettings) -> None:
    """Set what kopf writes to resources, and what it asks of the API server."""
    settings.persistence.finalizer = FINALIZER
    settings.persistence.diffbase_storage = NoDiffBase()
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=GROUP)
    # Namespaces and definitions of all the cluster are none of its business.
    settings.scanning.disabled = True
    settings.posting.reporting_component = "biaswatch"
    settings.posting.reporting_instance = "operator"
    settings.posting.event_name_prefix = "biaswatch-"


def registry_of(reconciler: Reconciler, look_s: float) -> kopf.OperatorRegistry:
    """Return the handlers of every kind of resource."""
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry)(login)
    kopf.index(GROUP, VERSION, SUITES, id="suite_hashes", registry=registry)(_suite_hash)
    kopf.index(GROUP, VERSION, MONITORS, id="monitor_names", registry=registry)(_monitor_name)
    ends = {MONITORS: _monitor_end(reconciler), RUNS: _run_end(reconciler)}
    for plural, look in {
        SUITES: lambda seen, _: reconciler.suite(seen),
        MONITORS: lambda seen, told: reconciler.monitor(
            seen, _suites(seen, told), _others(seen, told)
        ),
        RUNS: lambda seen, told: reconciler.run(seen, _suites(seen, told)),
    }.items():
        _register(registry, plural, look, look_s)
        if plural in ends:
            kopf.on.delete(GROUP, VERSION, plural, registry=registry)(
                _guarded(ends[plural], look_s)
            )
    return registry


def _register(registry: kopf.OperatorRegistry, plural: str, look: Look, look_s: float) -> None:
    """Look at a kind of resource again and again, and whenever one was changed."""

    async def look_now(patch: kopf.Patch, memo: kopf.Memo, **told: Any) -> None:
        async with _lock_of(memo):
            body = told["body"]
            if "deletionTimestamp" in body["metadata"]:
                return
            seen = _seen(body)
            reconciled = await look(seen, told)
            LOOKS.labels(plural, reconciled.outcome).inc()
            for event in reconciled.events:
                kind = "Warning" if event.warning else "Normal"
                kopf.event(body, type=kind, reason=event.reason, message=event.message)
            for name, value in differing(seen.status, reconciled.status).items():
                patch.status[name] = value

    async def look_at_change(body: kopf.Body, **told: Any) -> None:
        meta = body["metadata"]
        known = body.get("status", {}).get("observedGeneration")
        if FINALIZER in meta.get("finalizers", ()) and known not in (None, meta["generation"]):
            await look_now(body=body, **told)

    kopf.timer(
        GROUP, VERSION, plural, interval=look_s, backoff=look_s, id="look", registry=registry
    )(look_now)
    kopf.on.event(GROUP, VERSION, plural, id="change", registry=registry)(look_at_change)


def _guarded(end: Look, look_s: float) -> Callable[..., Awaitable[None]]:
    """Return a handler that lets a resource go once the gateway has done its part."""

    async def finish(memo: kopf.Memo, body: kopf.Body, **told: Any) -> None:
        async with _lock_of(memo):
            try:
                await end(_seen(body), told)
            except TransientError as error:
                log("operator").warning(
                    "a deletion waits", of=body["metadata"]["name"], why=str(error)
                )
                raise kopf.TemporaryError(str(error), delay=look_s) from None

    return finish


def _monitor_end(reconciler: Reconciler) -> Any:
    return lambda seen, told: reconciler.delete_monitor(seen, _others(seen, told))


def _run_end(reconciler: Reconciler) -> Any:
    return lambda seen, _: reconciler.cancel_run(seen)


def login(**told: Any) -> Any:
    """Return how the API server is reached: from within the cluster, or by a kubeconfig."""
    return kopf.login_with_service_account(**told) or kopf.login_with_kubeconfig(**told)


def _suite_hash(body: kopf.Body, **_: Any) -> Any:
    meta = body["metadata"]
    found = offered_hash(dict(meta), body.get("status", {}))
    return {meta["namespace"]: (meta["name"], found)} if found else None


def _monitor_name(body: kopf.Body, **_: Any) -> Any:
    meta, kept = body["metadata"], ("creationTimestamp", "uid", "deletionTimestamp")
    return {monitor_name(meta, body["spec"]): {key: meta[key] for key in kept if key in meta}}


def _suites(seen: Seen, told: Mapping[str, Any]) -> dict[str, str]:
    index: Index = told["suite_hashes"]
    return dict(index.get(seen.meta["namespace"], ()))


def _others(seen: Seen, told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the other resources that are the same monitor, those that are deleted left out."""
    index: Index = told["monitor_names"]
    named = index.get(monitor_name(seen.meta, seen.spec), ())
    return [
        each for each in named
        if each["uid"] != seen.meta["uid"] and "deletionTimestamp" not in each
    ]  # fmt: skip


def _seen(body: kopf.Body) -> Seen:
    return Seen(dict(body["metadata"]), dict(body["spec"]), dict(body.get("status", {})))


def _lock_of(memo: kopf.Memo) -> asyncio.Lock:
    """Return what lets one look at a resource end before the next begins."""
    found: asyncio.Lock = memo.setdefault("lock", asyncio.Lock())
    return found


TIMEOUT_S = 10.0


async def definitions_served() -> str | None:
    """Return None once the resources are served, and until then why they are not.

    Raises
    ------
    ConfigurationError
        Nothing says how the API server is reached.
    """
    where = login(settings=kopf.OperatorSettings())
    if where is None:
        raise ConfigurationError(
            "There is neither a service account nor a kubeconfig. Run the operator in a pod of a"
            " cluster, or set KUBECONFIG."
        )
    try:
        async with httpx2.AsyncClient(
            verify=where.as_ssl_context(), headers=where.as_http_headers(), timeout=TIMEOUT_S
        ) as http:
            reply = await http.get(f"{where.server.rstrip('/')}/apis/{GROUP}/{VERSION}")
            if not reply.is_success:
                return f"the API server answers HTTP {reply.status_code} for {GROUP}/{VERSION}"
            served = {each["name"] for each in reply.json().get("resources", ())}
    except (httpx2.HTTPError, json.JSONDecodeError) as error:
        return f"the API server does not answer ({type(error).__name__})"
    missing = sorted({MONITORS, SUITES, RUNS} - served)
    return f"not served are {', '.join(missing)}" if missing else None
