"""Routes of page forms, and the actions behind their buttons."""

from datetime import datetime
from functools import partial
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse

from biaswatch.services.gateway.auth import redirect
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.dashboard.page_forms import IdempotentForms, sent_form
from biaswatch.services.gateway.monitors.commands import monitor_commands, publish_change
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.commands import cancel, describe_run, run_commands
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import AuditAction, MonitorState, Run, as_usage_error
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.presentation.alarm_items import OUTCOMES, STEPS, silence_end
from biaswatch.shared.requests.runs import RunDescription
from biaswatch.shared.runtime.threads import in_thread

MAX_NOTE_CHARACTERS = 500
STEP_FIELDS = {
    "assign": ("assignee",),
    "resolve": ("outcome", "note"),
    "silence": ("until", "note"),
    "end-silence": ("until", "note"),
}
"""Fields of each step with an alarm, the required one first; other steps have only a note."""
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
        run = await in_thread(ctx.queries(RunQueries).run, run_id)
        await forms.once(request, caller, partial(actions.cancel, run))
        return redirect(f"/runs/{run.id}")

    @router.post("/runs/{run_id}/describe")
    async def take_description(run_id: str, request: Request, caller: SignedIn) -> RedirectResponse:
        fields = await sent_form(request, caller)
        with as_usage_error("The description"):
            description = RunDescription(
                name=" ".join(fields.get("name", "").split()),
                tags=fields.get("tags", "").replace(",", " ").split(),
                note=fields.get("note", ""),
            )
        await forms.once(request, caller, partial(actions.describe, run_id, description))
        return redirect(f"/runs/{run_id}")

    @router.post("/monitors/{name}/{verb}")
    async def change_monitor(
        name: str, verb: str, request: Request, caller: SignedIn
    ) -> RedirectResponse:
        await sent_form(request, caller)
        if verb not in STATES:
            raise NotFoundError(f"The action {verb} does not exist for a monitor.")
        await forms.once(request, caller, partial(actions.change_state, name, *STATES[verb]))
        return redirect(f"/monitors/{quote(name)}")

    @router.post("/monitors/{name}/alarms/{alarm_id}/{step}")
    async def work_on_alarm(
        name: str, alarm_id: str, step: str, request: Request, caller: SignedIn
    ) -> RedirectResponse:
        fields = await sent_form(request, caller)
        if step not in STEPS:
            raise NotFoundError(f"The action {step} does not exist for an alarm.")
        details = step_details(step, fields, now())
        alarms = await in_thread(ctx.queries(MonitorQueries).alarms, name)
        if alarm_id not in {view.alarm.id for view in alarms}:
            raise NotFoundError(f"The monitor {name} has no such alarm.")
        act = partial(actions.work_on_alarm, STEPS[step], alarm_id, name, details)
        await forms.once(request, caller, act)
        return redirect(f"/monitors/{quote(name)}/alarms#{alarm_id}")

    return router


class PageActions:
    """Executes page forms like the API, with an entry in the audit trail."""

    def __init__(self, ctx: GatewayContext) -> None:
        self._run_commands = run_commands(ctx)
        self._monitor_commands = monitor_commands(ctx)
        self._ctx = ctx

    async def cancel(self, run: Run) -> None:
        """Cancel a run."""
        async with self._ctx.audit.act(AuditAction.RUN_CANCEL, run.id, suite=run.suite):
            await cancel(run, self._ctx)

    async def describe(self, run_id: str, description: RunDescription) -> None:
        """Replace name, tags and note of a run."""
        await describe_run(run_id, description, self._run_commands, self._ctx)

    async def change_state(self, name: str, state: MonitorState, action: AuditAction) -> None:
        """Pause or resume a monitor."""
        applied = await in_thread(self._monitor_commands.changed_state, name, state)
        if applied.changed:
            await publish_change(applied, action, self._monitor_commands, self._ctx)

    async def work_on_alarm(
        self, action: AuditAction, alarm_id: str, monitor: str, details: dict[str, str]
    ) -> None:
        """Record a step of people with an alarm: the entry in the audit trail is the step."""
        await self._ctx.audit.record(action, alarm_id, monitor=monitor, **details)


def step_details(step: str, fields: dict[str, str], now: datetime) -> dict[str, str]:
    """Return the details of a step with an alarm.

    Raises
    ------
    UsageError
        A field of the form is missing, too long, or has no meaning.
    """
    names = STEP_FIELDS.get(step, ("note",))
    details = {name: " ".join(fields.get(name, "").split()) for name in names}
    if step == "resolve" and details["outcome"] not in OUTCOMES:
        raise UsageError(f"An alarm is resolved as one of {', '.join(OUTCOMES)}.")
    if step == "silence":
        details["until"] = silence_end(details["until"], now).isoformat()
    if step == "end-silence":
        details["until"] = now.isoformat()
    if not details[names[0]]:
        raise UsageError(f"Fill in the field {names[0]!r}.")
    for name, value in details.items():
        if len(value) > MAX_NOTE_CHARACTERS:
            raise UsageError(
                f"The field {name!r} has {len(value)} characters, more than the"
                f" {MAX_NOTE_CHARACTERS} allowed."
            )
    return {name: value for name, value in details.items() if value}
