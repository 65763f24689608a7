"""Writes the audit trail to the store, and its hashes to the log and the bus."""

from collections.abc import Callable, Sequence
from datetime import datetime

from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts.audit import AuditAnchor, AuditedAct, AuditEntry
from biaswatch.shared.errors import BiaswatchError
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import AUDIT_ENTRIES, AUDIT_UNANCHORED, log


class AuditWriter:
    """Appends acts, and anchors their hashes outside the database."""

    def __init__(
        self, store: Store, publisher: Publisher | None, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._now = now

    async def append(self, acts: Sequence[AuditedAct]) -> list[AuditEntry]:
        """Append acts; return their entries.

        Raises
        ------
        TransientError
            The store is not available; acts that must be in the trail must not be done then.
        """
        added = await in_thread(self._store.audit.append, acts, self._now())
        await self.anchor(added)
        return added

    async def anchor(self, added: Sequence[AuditEntry]) -> None:
        """Write the hashes of new entries into the log and onto the bus.

        An outage of the bus is tolerated: the log has the anchor, and the next one covers it.
        """
        for entry in added:
            AUDIT_ENTRIES.labels(entry.action).inc()
            log("audit").info(
                "audit entry",
                number=entry.number,
                hash=entry.hash,
                action=entry.action.value,
                actor=entry.actor,
                subject=entry.subject,
            )
        if not added or self._publisher is None:
            return
        last = added[-1]
        try:
            await self._publisher.publish(
                AuditAnchor(at=last.at, number=last.number, hash=last.hash)
            )
        except BiaswatchError as error:
            AUDIT_UNANCHORED.inc()
            log("audit").error(
                "an audit entry is not anchored on the bus", number=last.number, why=str(error)
            )
