"""Actions of page forms: cancel a run, pause a monitor, acknowledge an alarm."""

from functools import partial
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse

from biaswatch.services.gateway.auth import PAGE_HEADERS
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.dashboard.forms import IdempotentForms, sent_form
from biaswatch.services.gateway.monitors.commands import monitor_commands, publish_change
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.commands import run_commands
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import AuditAction, MonitorState, Run
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.runtime.blocking import in_thread

MAX_NOTE_CHARACTERS = 500
STATES = {
    "pause": (MonitorState.PAUSED, AuditAction.MONITOR_PAUSE),
    "resume": (MonitorState.ACTIVE, AuditAction.MONITOR_RESUME),
}


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of page forms; each redirects back to its page."""
    router, forms, actions = APIRouter(), IdempotentForms(ctx.store, now), PageActions(ctx)
    SignedIn = Annotated[Caller, Depends(ctx.tokens.signed_in)]  # noqa: N806 - a type

    @router.post("/runs/{run_id}/cancel")
    async def cancel_run(run_id: str, request: Request, caller: SignedIn) -> RedirectResponse:
        await sent_form(request, caller)
        run = await in_thread(actions.runs.run, run_id)
        await forms.once(request, caller, partial(actions.cancel, run))
        return _back(f"/runs/{run.id}")

    @router.post("/monitors/{name}/{verb}")
    async def change_monitor(
        name: str, verb: str, request: Request, caller: SignedIn
    ) -> RedirectResponse:
        await sent_form(request, caller)
        if verb not in STATES:
            raise NotFoundError(f"The action {verb} does not exist for a monitor.")
        await forms.once(request, caller, partial(actions.change_state, name, *STATES[verb]))
        return _back(f"/monitors/{quote(name)}")

    @router.post("/monitors/{name}/alarms/{alarm_id}/acknowledge")
    async def acknowledge_alarm(
        name: str, alarm_id: str, request: Request, caller: SignedIn
    ) -> RedirectResponse:
        fields = await sent_form(request, caller)
        note = " ".join(fields.get("note", "").split())
        if not note or len(note) > MAX_NOTE_CHARACTERS:
            raise UsageError(
                f"A note has 1 to {MAX_NOTE_CHARACTERS} characters: what is known so far."
            )
        alarms = await in_thread(actions.monitors.alarms, name)
        if alarm_id not in {view.alarm.id for view in alarms}:
            raise NotFoundError(f"The monitor {name} has no such alarm.")
        await forms.once(request, caller, partial(actions.acknowledge, alarm_id, name, note))
        return _back(f"/monitors/{quote(name)}/alarms#{alarm_id}")

    return router


class PageActions:
    """Executes page forms like the API, with an entry in the audit trail."""

    def __init__(self, ctx: GatewayContext) -> None:
        self.runs, self.monitors = RunQueries(ctx.store), MonitorQueries(ctx.store)
        self._run_commands = run_commands(ctx, self.runs)
        self._monitor_commands = monitor_commands(ctx, self.monitors)
        self._ctx = ctx

    async def cancel(self, run: Run) -> None:
        """Cancel a run."""
        async with self._ctx.audit.act(AuditAction.RUN_CANCEL, run.id, suite=run.suite):
            await self._ctx.send(await in_thread(self._run_commands.cancellation_of, run.id))

    async def change_state(self, name: str, state: MonitorState, action: AuditAction) -> None:
        """Pause or resume a monitor."""
        applied = await in_thread(self._monitor_commands.changed_state, name, state)
        if applied.changed:
            await publish_change(applied, action, self._monitor_commands, self._ctx)

    async def acknowledge(self, alarm_id: str, monitor: str, note: str) -> None:
        """Acknowledge an alarm; the entry in the audit trail is the acknowledgement."""
        action = AuditAction.ALARM_ACKNOWLEDGE
        async with self._ctx.audit.act(action, alarm_id, monitor=monitor, note=note):
            pass


def _back(page: str) -> RedirectResponse:
    return RedirectResponse(page, 303, PAGE_HEADERS)
