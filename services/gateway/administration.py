"""Audit trail and removal of texts, for administrators of a tenant."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.shared.contracts import (
    RUN_GATHER,
    AuditAction,
    AuditEntry,
    Probe,
    Response,
    Right,
    Run,
    pseudonym_of,
)
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.requests.platform import ON_THE_BUS, AuditRequest, PurgedTexts, PurgeRequest
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.store.audit import AuditFilter


def check_purge(store: Store, request: PurgeRequest) -> None:
    """Refuse to purge a run that is unknown or under way, as new answers would bring texts back.

    Raises
    ------
    NotFoundError
        The run is not in the scope of the store.
    UsageError
        It is under way.
    """
    run = request.run
    if run is None:
        return
    if store.records.missing(Run, [run]):
        raise NotFoundError(f"There is no run {run}. `biaswatch runs` lists them.")
    waiting = store.gathers(RUN_GATHER).state(run)
    if waiting and waiting.closed_by is None:
        raise UsageError(f"The run {run} is under way. Cancel it first: `biaswatch stop {run}`.")


@dataclass(frozen=True)
class RemovedTexts:
    """Numbers of texts that a purge of the store removed."""

    texts: int
    """Texts of records."""
    prompts: int = 0
    """Probes of stored suites whose texts were removed."""
    archived: int = 0
    """Texts of records in the archive."""
    known: bool = True
    """False if the store has nothing of the unit."""


def purge_texts(store: Store, request: PurgeRequest, now: datetime) -> RemovedTexts:
    """Remove texts in the scope of the store, including the write-ahead log of SQLite."""
    removed = _remove_texts(store, request, now)
    store.empty_write_ahead_log()
    return removed


def _remove_texts(store: Store, request: PurgeRequest, now: datetime) -> RemovedTexts:
    if request.run is not None:
        return RemovedTexts(store.purges.run(request.run, now))
    if request.unit is not None:
        # Copies that wait elsewhere first, so that they cannot be stored again. Redaction at intake
        # may have replaced the unit's name by a pseudonym.
        names = (request.unit, pseudonym_of(request.unit))
        sets = store.suites.sets_of(request.unit)
        texts = sum(store.purges.unit(name, now) for name in names)
        texts += sum(store.purges.pair(name, now) for name in sets)
        texts += store.answer_parts.purge_units(names)
        known = bool(texts or sets) or _has_records(store, names)
        return RemovedTexts(texts, store.suites.purge_unit(request.unit), known=known)
    assert request.before is not None  # noqa: S101 - one of the three is given
    texts = store.purges.before(request.before, now)
    return RemovedTexts(texts + store.answer_parts.purge_before(request.before))


def _has_records(store: Store, units: Sequence[str]) -> bool:
    """Return whether a stored record has one of these units."""
    return any(
        store.records.count(kind, unit_id=unit) for kind in (Response, Probe) for unit in units
    )


def remains_of(request: PurgeRequest) -> str:
    """Return a sentence on the texts that a purge of the store leaves."""
    kept = (
        "Numbers, groups, names that prompts vary, keys and ids remain, as do files outside:"
        " suites, recordings, reports, backups of the store."
    )
    if request.unit is not None:
        return (
            "A question of the unit may still be among the options that judges chose from for"
            f" other pairs: purge those runs to remove it. {kept}"
        )
    return (
        "The prompts of stored suites remain, since other runs ask them: purge their units to"
        f" remove those. {kept}"
    )


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of the audit trail and of purges."""
    router = APIRouter(
        prefix="/v1", dependencies=[ctx.tokens.require(Right.ADMINISTER)], route_class=StrictRoute
    )

    @router.get("/audit")
    def who_did_what(query: Annotated[AuditRequest, Query()]) -> list[AuditEntry]:
        """Return entries of the audit trail of one's own tenant, the newest first."""
        entries = AuditFilter(query.about, query.by, query.action, query.since)
        return ctx.store.audit.latest(query.last, entries)

    @router.post("/purges")
    async def purge(request: PurgeRequest) -> PurgedTexts:
        """Remove texts of one's own tenant for good; the numbers remain."""
        await in_thread(check_purge, ctx.store, request)
        async with ctx.audit.act(AuditAction.TEXTS_PURGE, request.subject, what=request.what):
            removed = await in_thread(purge_texts, ctx.store, request, now())
        return PurgedTexts(
            texts=removed.texts,
            prompts=removed.prompts,
            known=removed.known,
            remains=f"{ON_THE_BUS} {remains_of(request)}",
        )

    return router
