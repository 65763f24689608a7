"""A Lease by which one operator works, and others wait."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from biaswatch.services.operator.handlers.cluster import ClusterApi
from biaswatch.shared.errors import NotFoundError, TransientError
from biaswatch.shared.telemetry import log

RENEWALS = 3
"""Attempts to renew the Lease within its duration."""


@dataclass
class Leadership:
    """The Lease of the operators of a namespace, as Kubernetes' own controllers use them.

    A Lease that does not change for its duration has no living holder. The duration is measured by
    the clock of the operator that waits, because clocks of nodes differ.
    """

    cluster: ClusterApi
    identity: str
    duration_s: float
    now: Callable[[], datetime]

    async def acquire(self, report: Callable[[str], None]) -> None:
        """Wait until this operator holds the Lease; report why it waits."""
        clock = asyncio.get_running_loop().time
        seen: dict[str, Any] = {}
        unchanged_since = clock()
        while True:
            try:
                lease = await self.cluster.lease()
                spec = lease.get("spec") or {}
                if spec != seen:
                    seen, unchanged_since = spec, clock()
                holder = spec.get("holderIdentity")
                duration_s = spec.get("leaseDurationSeconds", self.duration_s)
                if not holder or clock() - unchanged_since >= duration_s:
                    await self.cluster.write_lease(lease, self._spec(spec))
                    return
                why = f"the operator {holder} works here"
            except (NotFoundError, TransientError) as error:
                why = str(error)
            report(why)
            await asyncio.sleep(self.duration_s / RENEWALS)

    async def keep(self) -> None:
        """Renew the Lease; return if another operator has taken it, or may have."""
        clock = asyncio.get_running_loop().time
        renewed = clock()
        while clock() - renewed < self.duration_s * (RENEWALS - 1) / RENEWALS:
            await asyncio.sleep(self.duration_s / RENEWALS)
            try:
                lease = await self.cluster.lease()
                if lease["spec"].get("holderIdentity") != self.identity:
                    break
                await self.cluster.write_lease(lease, {"renewTime": self._moment()})
                renewed = clock()
            except (NotFoundError, TransientError) as error:
                log("operator").warning("the Lease is not renewed", why=str(error))
        log("operator").error("another operator may hold the Lease: this one stops")

    async def release(self) -> None:
        """Release the Lease, so that the next operator need not wait."""
        try:
            lease = await self.cluster.lease()
            if lease["spec"].get("holderIdentity") == self.identity:
                await self.cluster.write_lease(lease, {"holderIdentity": ""})
        except (NotFoundError, TransientError) as error:
            log("operator").warning("the Lease is not released", why=str(error))

    def _spec(self, before: dict[str, Any]) -> dict[str, Any]:
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": max(1, round(self.duration_s)),
            "acquireTime": self._moment(),
            "renewTime": self._moment(),
            "leaseTransitions": before.get("leaseTransitions", 0) + 1,
        }

    def _moment(self) -> str:
        return self.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
