"""End the monitors, runs and searches of deleted resources, without finalizers."""

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


class Cleanup:
    """Records what each resource has in the gateway, and ends it once the resource is deleted.

    The records are in a ConfigMap, so that an operator that starts after a deletion reads them.
    Unlike finalizers, they never delay the deletion of a namespace.
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
        """Record what a resource has in the gateway, if that has changed."""
        entry = _entry(plural, meta, spec, status)
        if self._records.get(meta["uid"]) != entry:
            await self._write(meta["uid"], entry)

    async def run(self, interval_s: float) -> None:
        """Clean up at intervals, and whenever a resource is deleted."""
        while True:
            self.deleted.clear()
            try:
                await self._run_once()
            except (NotFoundError, TransientError) as error:
                log("operator").warning("a deletion waits", why=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(interval_s):
                    await self.deleted.wait()

    async def _run_once(self) -> None:
        if not self._records:
            return
        known = dict(self._records)  # a resource that is created meanwhile is not gone
        present, names = set(), set()
        for namespace in self._cluster.namespaces:
            monitors = await self._cluster.list(MONITORS, namespace)
            names |= {monitor_name(body["metadata"], body["spec"]) for body in monitors}
            lists = [await self._cluster.list(kind, namespace) for kind in (RUNS, SEARCHES)]
            present |= {body["metadata"]["uid"] for body in chain(monitors, *lists)}
        for uid in known.keys() - present:
            entry = json.loads(known[uid])
            if entry["namespace"] in self._cluster.namespaces:
                await self._end(entry, names)
                await self._write(uid, None)

    async def _end(self, entry: Mapping[str, str], names: set[str]) -> None:
        """Delete a monitor, unless another resource declares it too; cancel others."""
        try:
            if RUN in entry:
                await self._gateway.cancel("runs", entry[RUN])
            elif SEARCH in entry:
                await self._gateway.cancel("searches", entry[SEARCH])
            elif entry[MONITOR] not in names:
                await self._gateway.delete(entry[MONITOR])
        except UsageError as error:
            log("operator").warning("the gateway keeps it", of=str(entry), why=str(error))

    async def _write(self, uid: str, entry: str | None) -> None:
        await self._cluster.write_record(uid, entry)
        if entry is None:
            self._records.pop(uid, None)
        else:
            self._records[uid] = entry


def _entry(plural: str, meta: Mapping[str, Any], spec: Any, status: Any) -> str | None:
    """Return the record of what a resource has in the gateway; None if it has nothing."""
    if plural == MONITORS and status.get("monitorId"):
        entry = {MONITOR: monitor_name(meta, spec)}
    elif plural == RUNS and (run_id := running_id(status)):
        entry = {RUN: run_id}
    elif plural == SEARCHES and (search_id := running_search(status)):
        entry = {SEARCH: search_id}
    else:
        return None
    return json.dumps({"namespace": meta["namespace"], **entry}, sort_keys=True)
