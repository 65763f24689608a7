"""The verb that purges texts: from store and bus, or a tenant's through its gateway."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from biaswatch.cli.admin.archive import purge_archive
from biaswatch.cli.admin.audit import operator_act, write_acts
from biaswatch.cli.options import Json, ask, gateway, moment_of
from biaswatch.local.connections import bus_connection, bus_url
from biaswatch.services.gateway.administration import (
    RemovedTexts,
    check_purge,
    purge_texts,
    remains_of,
)
from biaswatch.shared.bus.jetstream import Admin, JetStreamPublisher
from biaswatch.shared.bus.purging import PurgedMessages, purge_messages
from biaswatch.shared.contracts import AuditAction, is_id
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked
from biaswatch.shared.foreign_text import shown
from biaswatch.shared.requests.platform import PurgedTexts, PurgeRequest
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.store import Store
from biaswatch.shared.store.database import Scope

PENDING = "pending"
"""Subject in the audit trail of a purge of the bus alone."""


def purge(
    run: Annotated[str | None, typer.Option(help="The texts of this run.")] = None,
    before: Annotated[
        str | None, typer.Option(help="The texts of all records made before this date (UTC).")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="The texts of this unit: a prompt, a user, a conversation.")
    ] = None,
    pending: Annotated[
        bool, typer.Option("--pending", help="Copies on the bus of texts purged by the gateway.")
    ] = False,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation.")] = False,
    as_json: Json = False,
) -> None:
    """Remove texts for good from store, archive, streams and dead letters; numbers remain."""
    request = _request(run, before, unit, pending)
    server = gateway().server
    if server is not None and (tenant is not None or pending):
        raise UsageError(
            "A gateway purges the token's tenant in the store: no --tenant, --pending."
        )
    if not yes:
        typer.confirm("Purged texts cannot be restored. Continue?", abort=True)
    if server is not None and request is not None:
        purged = ask(lambda client: client.purge(request))
        _check_known(unit, is_known=purged.known)
        _show_purged(purged, as_json)
        return
    gone, removed = _purge_locally(request, tenant)
    is_known = gone.known or gone.archived > 0 or removed.messages.total() > 0
    _check_known(unit, is_known=is_known)
    _show(gone, removed, remains_of(request) if request else "", as_json)


def _request(
    run: str | None, before: str | None, unit: str | None, pending: bool
) -> PurgeRequest | None:
    """Return the request of a purge; None for a sweep of the bus alone."""
    options = {"run": run, "unit": unit, "before": moment_of(before) if before else None}
    named = {name: value for name, value in options.items() if value is not None}
    if len(named) + pending != 1:
        raise UsageError("Select the texts with one of --run, --before, --unit and --pending.")
    if run is not None and not is_id(run):
        raise UsageError(f"There is no run {run}. `biaswatch runs` lists them.")
    return checked(PurgeRequest, named, "purge") if named else None


def _purge_locally(
    request: PurgeRequest | None, tenant: str | None
) -> tuple[RemovedTexts, PurgedMessages]:
    """Purge the store and the bus; return the numbers of texts and messages removed."""
    settings = load_settings(Settings)
    scope = Scope(tenant=tenant)

    async def work(url: str, whole: Store) -> tuple[RemovedTexts, PurgedMessages]:
        async with bus_connection(settings, url) as connection:
            act = operator_act(
                AuditAction.TEXTS_PURGE,
                request.subject if request else PENDING,
                tenant=tenant,
                what=request.what if request else PENDING,
            )
            publisher = JetStreamPublisher(connection)
            await write_acts(settings, whole, publisher, [act])
            now, texts = datetime.now(UTC), RemovedTexts(0)
            if request is not None:
                texts = purge_texts(whole.scoped(lambda: scope), request, now)
            archived = purge_archive(whole)
            covers = whole.purges.so_far().covers
            messages = await purge_messages(Admin(connection), publisher, covers)
            return replace(texts, archived=archived), messages

    with Store.open(settings.store, statement_s=None) as store:
        if request is not None:
            check_purge(store.scoped(lambda: scope), request)
        with bus_url(settings) as url:
            return asyncio.run(work(url, store))


def _check_known(unit: str | None, *, is_known: bool) -> None:
    """Raise UsageError for a unit without any record."""
    if unit is not None and not is_known:
        raise UsageError(
            f"No record has the unit {shown(unit)}, so nothing was removed. Check its name: upper"
            " and lower case differ."
        )


def _show_purged(purged: PurgedTexts, as_json: bool) -> None:
    if as_json:
        typer.echo(purged.model_dump_json(indent=2))
        return
    typer.echo(f"{_counts(purged.texts, purged.prompts)}. {purged.remains}")


def _counts(texts: int, prompts: int) -> str:
    suites = f", and {prompts} prompts from its suites" if prompts else ""
    return f"Removed {texts} texts from the store{suites}"


def _show(gone: RemovedTexts, removed: PurgedMessages, remains: str, as_json: bool) -> None:
    messages, unread = removed.messages, removed.unreadable
    if as_json:
        document = {
            "texts": gone.texts,
            "archived_texts": gone.archived,
            "prompts": gone.prompts,
            "messages": dict(messages),
            "unreadable_dead_letters": unread,
            "remains": remains,
        }
        typer.echo(json.dumps(document, indent=2))
        return
    sentence = f"{_counts(gone.texts, gone.prompts)}, and {messages.total()} messages."
    if gone.archived:
        sentence += f" Removed {gone.archived} texts from the archive."
    sentence += f" {remains}" if remains else ""
    if unread:
        sentence += (
            f" {unread} dead letters are not records, so they cannot be searched for texts:"
            " `biaswatch admin dead-letters list` lists them, `discard` removes them."
        )
    typer.echo(sentence)
