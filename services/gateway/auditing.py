"""What callers do, written into the audit trail before it is done."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from biaswatch.services.gateway.callers import Caller, current_caller
from biaswatch.services.gateway.tokens_file import KnownTokens
from biaswatch.shared.contracts.audit import AuditAction, AuditedAct
from biaswatch.shared.errors import BiaswatchError, TransientError
from biaswatch.shared.runtime.auditing import AuditWriter
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import log

NOTICED = AuditedAct(
    actor="tokens file", role="operator", source="gateway", action=AuditAction.TOKEN_ADD
)
"""Who changes tokens: whoever may write the file, which says itself who made an entry."""
MOST_CHARACTERS = 500
"""Of a sentence that says why something failed."""


class CallerAudit:
    """Writes acts of the caller of the request that is being handled."""

    def __init__(self, writer: AuditWriter) -> None:
        self._writer = writer

    @asynccontextmanager
    async def act(self, action: AuditAction, subject: str, **details: str) -> AsyncIterator[None]:
        """Write what is about to be done; where it then fails, write that too.

        Raises
        ------
        TransientError
            The trail cannot be written, so it must not be done.
        """
        caller = current_caller()
        if caller is None:
            raise LookupError("Somebody unknown does what has to be audited.")
        announced = act_of(caller, action, subject, details)
        await self._writer.append([announced])
        try:
            yield
        except Exception as error:
            # What nobody expected may hold anything: its kind says enough.
            said = str(error) if isinstance(error, BiaswatchError) else type(error).__name__
            failed = announced.model_copy(update={"failure": said[:MOST_CHARACTERS]})
            await self._writer.append([failed])
            raise


def act_of(
    caller: Caller, action: AuditAction, subject: str, details: dict[str, str]
) -> AuditedAct:
    """Return what a caller does, as the trail says it."""
    return AuditedAct(
        tenant=caller.tenant,
        actor=caller.name,
        role=caller.role or "none",
        source=caller.source,
        action=action,
        subject=subject,
        details=details,
    )


class TokenAudit:
    """Writes which tokens came and went since any gateway looked last."""

    def __init__(self, store: Store, writer: AuditWriter, known: KnownTokens) -> None:
        self._store = store
        self._writer = writer
        self._known = known
        self._noted: dict[str, str] | None = None

    async def note(self) -> None:
        """Note changed tokens; a store that is away is asked again at the next request."""
        described = self._known.current().described()
        if not self._known.needed or described == self._noted:
            return
        before, self._noted = self._noted, described
        try:
            added = await in_thread(
                self._store.audit.append_token_changes, described, NOTICED, self._known.now()
            )
        except TransientError as error:
            self._noted = before
            log("audit").warning("changed tokens are not in the audit trail yet", why=str(error))
            return
        await self._writer.anchor(added)
