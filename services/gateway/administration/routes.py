"""The routes that only administrators of a tenant may use."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from biaswatch.services.gateway.administration.commands import check_purge, purge_texts, remains_of
from biaswatch.services.gateway.auditing import CallerAudit
from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.strict_requests import StrictRoute
from biaswatch.shared.contracts import AuditAction, AuditEntry
from biaswatch.shared.requests.administration import (
    ON_THE_BUS,
    AuditRequest,
    PurgedTexts,
    PurgeRequest,
)
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.store.audit import AuditFilter


def administration_routes(
    store: Store, tokens: Tokens, audit: CallerAudit, now: Callable[[], datetime]
) -> APIRouter:
    """Return the routes of the audit trail and of purges."""
    router = APIRouter(
        prefix="/v1", dependencies=[Depends(tokens.may_administer)], route_class=StrictRoute
    )

    @router.get("/audit")
    def who_did_what(asked: Annotated[AuditRequest, Query()]) -> list[AuditEntry]:
        """Return entries of the audit trail of one's own tenant, the newest first."""
        wanted = AuditFilter(asked.about, asked.by, asked.action, asked.since)
        return store.audit.latest(asked.last, wanted)

    @router.post("/purges")
    async def purge(request: PurgeRequest) -> PurgedTexts:
        """Remove texts of one's own tenant for good; the numbers remain."""
        await in_thread(check_purge, store, request)
        async with audit.act(AuditAction.TEXTS_PURGE, request.subject, what=request.what):
            removed = await in_thread(purge_texts, store, request, now())
        return PurgedTexts(
            texts=removed.texts,
            prompts=removed.prompts,
            remains=f"{ON_THE_BUS} {remains_of(request)}",
        )

    return router
