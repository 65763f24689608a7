"""Progress and end of a run on the terminal."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from biaswatch.checks import CheckRule, checked_diagnoses
from biaswatch.cli.options import end_check
from biaswatch.local.client import GatewayClient
from biaswatch.local.runs import (
    InterpretedGap,
    RunResults,
    check_not_refused,
    ended_run,
    run_results,
)
from biaswatch.planning.findable_gaps import with_findable
from biaswatch.render.run_results import print_results
from biaswatch.render.terminal import printable
from biaswatch.shared import clock
from biaswatch.shared.contracts import Diagnosis, Suite
from biaswatch.shared.errors import TransientError
from biaswatch.shared.presentation.run_summary import mostly_missing
from biaswatch.shared.requests.run_views import RunProgress, RunState
from biaswatch.shared.requests.runs import RunRequest

Then = Callable[[GatewayClient, str, Sequence[Diagnosis]], Awaitable[Sequence[InterpretedGap]]]


async def run_suite(
    suite: Suite,
    body: RunRequest,
    connection: AbstractAsyncContextManager[GatewayClient],
    *,
    quiet: bool,
    then: Then | None = None,
) -> RunResults:
    """Run a suite and show its progress; return its results."""
    async with connection as client:
        run_id = await ended_run(client, suite, body, partial(watched, quiet=quiet))
        results = await with_findable(client, await run_results(client, run_id))
        if then is not None and results.diagnoses:
            interpretations = await then(client, run_id, results.diagnoses)
            results = replace(results, interpretations=interpretations)
        return results


RESUMED_AFTER_S = 60
"""Age of a run whose earlier answers are mentioned."""


def resumed_remark(progress: RunProgress, at: datetime) -> str | None:
    """Say that a run has answers of an earlier command; None for a run that has just begun."""
    if not progress.responses or (at - progress.at).total_seconds() < RESUMED_AFTER_S:
        return None
    rest = "nothing" if progress.responses == progress.probes else "only the rest"
    return (
        f"This run began on {progress.at:%Y-%m-%d %H:%M} UTC and has {progress.responses:,} of"
        f" {progress.probes:,} answers: {rest} is asked. Use --new to ask everything again."
    )


async def watched(
    client: GatewayClient,
    run_id: str,
    opening: int,
    *,
    quiet: bool,
    now: Callable[[], datetime] = clock.now,
) -> None:
    """Show the progress of a run until it is diagnosed."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as bars:
        answered = bars.add_task("answered", total=None)
        measured = bars.add_task("measured", total=None)
        judged: TaskID | None = None
        paused_lanes, batches = set[str](), set[datetime]()
        async for progress in client.follow(run_id, opening):
            if not bars.tasks[answered].total and (remark := resumed_remark(progress, now())):
                typer.echo(remark, err=True)
            for paused in progress.paused:
                if paused.lane not in paused_lanes:
                    typer.echo(printable(paused.in_words()), err=True)
                    paused_lanes.add(paused.lane)
            for batch in progress.batches:
                if batch.expires_at and batch.expires_at not in batches:
                    typer.echo(printable(batch.in_words()), err=True)
                    batches.add(batch.expires_at)
            check_not_refused(progress)
            bars.update(answered, completed=progress.responses, total=progress.probes)
            bars.update(measured, completed=progress.features, total=progress.features_expected)
            if expected := progress.verdicts_expected:
                judged = bars.add_task("judged", total=expected) if judged is None else judged
                bars.update(judged, completed=progress.verdicts)


def finish(
    work: Coroutine[Any, Any, RunResults], as_json: bool, rule: CheckRule | None = None
) -> None:
    """Print the results of a run, and end with the exit code of its checks."""
    try:
        results = asyncio.run(work)
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command again goes on where this one stopped.", err=True)
        raise typer.Exit(TransientError.exit_code) from None
    print_results(results, as_json=as_json)
    end_check(checked_diagnoses(results.diagnoses), rule, results.incomplete)
    if results.run.state is not RunState.COMPLETE or mostly_missing(results.diagnoses):
        raise typer.Exit(TransientError.exit_code)
