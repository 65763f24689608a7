"""Monitors and runs of deleted resources: no finalizer holds a resource for them."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

from biaswatch.services.operator.domain.conditions import MONITORS, RUNS, SEARCHES
from biaswatch.services.operator.domain.monitors import monitor_name
from biaswatch.services.operator.domain.runs import running_id
from biaswatch.services.operator.domain.searches import running_search
from biaswatch.services.operator.handlers.cluster import ClusterApi
from biaswatch.services.operator.handlers.gateway import GatewayApi
from biaswatch.shared.errors import NotFoundError, TransientError, UsageError
from biaswatch.shared.telemetry import log

MONITOR, RUN, SEARCH = "monitor", "run", "search"


class Obligations:
    """What the gateway must forget once a resource is gone, by the resource's uid.

    They are kept in a ConfigMap, so that an operator that starts after a deletion meets them. A
    namespace that is deleted takes them along and waits for nothing.
    """

    def __init__(self, cluster: ClusterApi, gateway: GatewayApi) -> None:
        self._cluster = cluster
        self._gateway = gateway
        self._records: dict[str, str] = {}
        self.deleted = asyncio.Event()
        """Set when a resource is deleted."""

    async def load(self) -> None:
        """Read what an earlier operator recorded."""
        self._records = await self._cluster.records()

    async def record(self, plural: str, meta: Mapping[str, Any], spec: Any, status: Any) -> None:
        """Record what a resource leaves in the gateway, if that has changed."""
        duty = _duty(plural, meta, spec, status)
        if self._records.get(meta["uid"]) != duty:
            await self._write(meta["uid"], duty)

    async def meet(self, interval_s: float) -> None:
        """Delete monitors and cancel runs of deleted resources, at intervals and when one goes."""
        while True:
            self.deleted.clear()
            try:
                await self._meet_once()
            except (NotFoundError, TransientError) as error:
                log("operator").warning("a deletion waits", why=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(interval_s):
                    await self.deleted.wait()

    async def _meet_once(self) -> None:
        if not self._records:
            return
        known = dict(self._records)  # a resource that is created meanwhile is not gone
        present, names = set(), set()
        for namespace in self._cluster.namespaces:
            monitors = await self._cluster.list(MONITORS, namespace)
            names |= {monitor_name(body["metadata"], body["spec"]) for body in monitors}
            others = [await self._cluster.list(kind, namespace) for kind in (RUNS, SEARCHES)]
            present |= {body["metadata"]["uid"] for body in chain(monitors, *others)}
        for uid in known.keys() - present:
            duty = json.loads(known[uid])
            if duty["namespace"] in self._cluster.namespaces:
                await self._forget(duty, names)
                await self._write(uid, None)

    async def _forget(self, duty: Mapping[str, str], names: set[str]) -> None:
        """Delete a monitor, unless another resource declares it too; cancel others."""
        try:
            if RUN in duty:
                await self._gateway.cancel(duty[RUN])
            elif SEARCH in duty:
                await self._gateway.cancel_search(duty[SEARCH])
            elif duty[MONITOR] not in names:
                await self._gateway.delete(duty[MONITOR])
        except UsageError as error:
            log("operator").warning("the gateway keeps it", of=str(duty), why=str(error))

    async def _write(self, uid: str, duty: str | None) -> None:
        await self._cluster.write_record(uid, duty)
        if duty is None:
            self._records.pop(uid, None)
        else:
            self._records[uid] = duty


def _duty(plural: str, meta: Mapping[str, Any], spec: Any, status: Any) -> str | None:
    """Return what the gateway must forget with a resource; None if it has nothing of it."""
    if plural == MONITORS and status.get("monitorId"):
        duty = {MONITOR: monitor_name(meta, spec)}
    elif plural == RUNS and (run_id := running_id(status)):
        duty = {RUN: run_id}
    elif plural == SEARCHES and (search_id := running_search(status)):
        duty = {SEARCH: search_id}
    else:
        return None
    return json.dumps({"namespace": meta["namespace"], **duty}, sort_keys=True)
