"""How a run is started, whoever asks: audited, stored, and sent to the planner."""

from collections.abc import Awaitable, Callable

from biaswatch.services.gateway.auditing import CallerAudit
from biaswatch.services.gateway.runs.commands import RunCommands
from biaswatch.shared.contracts import AuditAction, Run
from biaswatch.shared.requests.run_views import StartedRun
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.shared.runtime.blocking import in_thread


async def started_run(
    request: RunRequest,
    commands: RunCommands,
    send: Callable[[Run], Awaitable[None]],
    audit: CallerAudit,
) -> StartedRun:
    """Start the run that is requested, unless it is under way or done; return it either way."""
    run = await in_thread(commands.run_for, request)
    opening = await in_thread(commands.opening_of, run)
    if opening is not None:
        targets = ", ".join(target.name for target in run.targets)
        async with audit.act(AuditAction.RUN_START, run.id, suite=run.suite, targets=targets):
            await in_thread(commands.keep_run, run)
            await send(run)
    return StartedRun(run=run, opening=opening or 0)
