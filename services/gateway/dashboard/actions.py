"""Actions of page forms: cancel a run, pause a monitor, acknowledge an alarm."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse

from biaswatch.services.gateway.auth import PAGE_HEADERS, CallerAudit, Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.dashboard.forms import SingleUse, sent_form
from biaswatch.services.gateway.monitors.commands import MonitorCommands
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.commands import RunCommands
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import AuditAction, Cancellation, Monitor, MonitorState, Run
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.runtime.blocking import in_thread

MOST_CHARACTERS = 500
STATES = {
    "pause": (MonitorState.PAUSED, AuditAction.MONITOR_PAUSE),
    "resume": (MonitorState.ACTIVE, AuditAction.MONITOR_RESUME),
}


@dataclass(frozen=True)
class PageActions:
    """What forms need to do what the API does."""

    runs: RunQueries
    run_commands: RunCommands
    monitors: MonitorQueries
    monitor_commands: MonitorCommands
    send: Callable[[Cancellation | Monitor | Run], Awaitable[None]]
    audit: CallerAudit
    forms: SingleUse


def action_routes(actions: PageActions, tokens: Tokens) -> APIRouter:
    """Return the routes that forms of pages are sent to; each leads back to its page."""
    router = APIRouter()
    signed_in = Depends(tokens.signed_in)

    @router.post("/runs/{run_id}/cancel")
    async def cancel_run(
        run_id: str, request: Request, caller: Annotated[Caller, signed_in]
    ) -> RedirectResponse:
        await sent_form(request, caller)
        run = await in_thread(actions.runs.run, run_id)
        await actions.forms.once(request, caller, partial(_cancel, actions, run))
        return _back(f"/runs/{run.id}")

    @router.post("/monitors/{name}/{verb}")
    async def change_monitor(
        name: str, verb: str, request: Request, caller: Annotated[Caller, signed_in]
    ) -> RedirectResponse:
        await sent_form(request, caller)
        if verb not in STATES:
            raise NotFoundError(f"A monitor cannot be told to {verb} here.")
        change = partial(_change_state, actions, name, *STATES[verb])
        await actions.forms.once(request, caller, change)
        return _back(f"/monitors/{quote(name)}")

    @router.post("/monitors/{name}/alarms/{alarm_id}/acknowledge")
    async def acknowledge_alarm(
        name: str, alarm_id: str, request: Request, caller: Annotated[Caller, signed_in]
    ) -> RedirectResponse:
        fields = await sent_form(request, caller)
        note = " ".join(fields.get("note", "").split())
        if not note or len(note) > MOST_CHARACTERS:
            raise UsageError(f"A note has 1 to {MOST_CHARACTERS} characters: what is known so far.")
        known = await in_thread(actions.monitors.alarms, name)
        if alarm_id not in {each.alarm.id for each in known}:
            raise NotFoundError(f"The monitor {name} has no such alarm.")
        acknowledge = partial(_acknowledge, actions, alarm_id, monitor=name, note=note)
        await actions.forms.once(request, caller, acknowledge)
        return _back(f"/monitors/{quote(name)}/alarms#{alarm_id}")

    return router


async def _cancel(actions: PageActions, run: Run) -> None:
    async with actions.audit.act(AuditAction.RUN_CANCEL, run.id, suite=run.suite):
        await actions.send(await in_thread(actions.run_commands.cancellation_of, run.id))


async def _acknowledge(actions: PageActions, alarm_id: str, **said: str) -> None:
    async with actions.audit.act(AuditAction.ALARM_ACKNOWLEDGE, alarm_id, **said):
        pass  # the entry is the acknowledgement


async def _change_state(
    actions: PageActions, name: str, state: MonitorState, action: AuditAction
) -> None:
    applied = await in_thread(actions.monitor_commands.changed_state, name, state)
    monitor = applied.monitor
    if applied.changed:
        async with actions.audit.act(action, monitor.name, monitor_id=monitor.monitor_id):
            await in_thread(actions.monitor_commands.keep, monitor)
            await actions.send(monitor)


def _back(page: str) -> RedirectResponse:
    return RedirectResponse(page, 303, PAGE_HEADERS)
