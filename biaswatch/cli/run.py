"""The verbs that ask models: run and demo."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import uuid4

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
from biaswatch.cli.options import (
    Controls,
    FailOn,
    Json,
    MinMeasured,
    PairJudges,
    Server,
    SuiteFile,
    Token,
    check_rule,
    end_check,
)
from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import AddressFile, connected
from biaswatch.local.runs import InterpretedGap, RunResults, run_results
from biaswatch.planning.costs import EstimatedSpending, estimated_spending, in_words
from biaswatch.planning.findable_gaps import with_findable
from biaswatch.readers.suites import DEMO_SUITE, load_suite
from biaswatch.readers.targets import (
    check_means,
    check_recordings,
    check_scaffolds,
    check_simulated,
    read_target,
    sent_target,
)
from biaswatch.render.run_results import DEMO_JUDGES, DEMO_WRITER, print_results
from biaswatch.render.terminal import print_json, printable
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.contracts import Budget, Diagnosis, Suite, Target
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.requests.run_views import RunProgress, RunState
from biaswatch.shared.runtime.settings import Settings, load_settings

TRIED_IN_VAIN = 3
"""Refusals after which `run` waits no longer for a target: a person must correct its key."""
AsProcesses = Annotated[bool, typer.Option("--processes", help="Each service as its own process.")]


def run(
    suite: SuiteFile,
    target: Annotated[list[str], typer.Option(help="provider:model[@base_url]; may be repeated.")],
    scaffold: Annotated[list[str] | None, typer.Option(help="How each probe is asked.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often each probe is asked.")] = 1,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Stop at so many tokens; with more, it goes on.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Stop at so much money, by your own price table.")
    ] = None,
    judge: PairJudges = None,
    seed: Annotated[int, typer.Option(help="Of what judges are shown: distractors, order.")] = 0,
    controls: Controls = True,
    new: Annotated[bool, typer.Option("--new", help="Start the same plan afresh.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would ask and about cost.")
    ] = False,
    fail_on: FailOn = None,
    min_measured: MinMeasured = None,
    as_processes: AsProcesses = False,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Put a suite to models and show what is found. The same command again resumes."""
    rule = check_rule(fail_on, min_measured)
    loaded, targets = load_suite(suite), [read_target(each) for each in target]
    if max_cost is not None and not 0 < max_cost < float("inf"):
        raise UsageError(f"--max-cost must be more than 0 (it is {max_cost:g}).")
    budget = Budget(tokens=max_tokens, cost=max_cost)
    check_scaffolds(loaded, targets, scaffold or ["direct"])
    spending = _spending(loaded, targets, scaffold or ["direct"], repeats)
    if dry_run:
        _tell(spending, as_json=as_json, dry_run=True)
        return
    judges = [read_target(each) for each in judge or [] if each not in {"self", "none"}]
    _check_here([*targets, *judges], budget, server)
    if any(each.paid for each in spending):
        _tell(spending, as_json=False, dry_run=False)
    asked = {
        "targets": [sent_target(each, server) for each in target],
        "scaffolds": scaffold or ["direct"],
        "repeats": repeats,
        "nonce": uuid4().hex if new else "",
        "budget": budget.model_dump(),
        "judges": [sent_target(each, server) for each in judge or []],
        "judge_seed": seed,
        "judge_controls": controls,
    }
    work = _run_suite(
        loaded, asked, connected(server, token, as_processes=as_processes), quiet=as_json
    )
    _finish(work, as_json, rule)


def _spending(
    suite: Suite, targets: Sequence[Target], scaffolds: Sequence[str], repeats: int
) -> list[EstimatedSpending]:
    settings = load_settings(GeneratorSettings)
    return estimated_spending(
        suite, targets, scaffolds, repeats,
        at=datetime.now(UTC), prices=settings.prices(), at_once=settings.generator_start,
    )  # fmt: skip


def _tell(spending: Sequence[EstimatedSpending], *, as_json: bool, dry_run: bool) -> None:
    """Say what is about to be asked: of a dry run it is the answer, otherwise a remark."""
    if as_json:
        print_json(spending)
        return
    for each in spending:
        typer.echo(printable(in_words(each)), err=not dry_run)


def _check_here(targets: Sequence[Target], budget: Budget, server: str | None) -> None:
    """Say now what only a platform on this machine can know."""
    if server:
        return
    check_recordings(targets)
    if not AddressFile(load_settings(Settings).state_dir).read():  # what starts here reads these
        from biaswatch.services.simulator.app import read_settings

        check_simulated(targets, read_settings().models)
        check_means(targets, budget, load_settings(GeneratorSettings))


def demo(as_json: Json = False) -> None:
    """Find a planted bias, and find none where none is: simulated models, nothing to set up."""
    asked = {"targets": ["simulator:biased", "simulator:unbiased"], "repeats": 5}

    async def interpreted(
        client: GatewayClient, run_id: str, found: Sequence[Diagnosis]
    ) -> Sequence[InterpretedGap]:
        from biaswatch.cli.interpret import interpret_run

        return await interpret_run(client, run_id, found, writer=DEMO_WRITER, judges=DEMO_JUDGES)

    suite, here = load_suite(DEMO_SUITE), connected(None, None)
    work = _run_suite(suite, asked, here, quiet=as_json, then=interpreted)
    _finish(work, as_json)


Then = Callable[[GatewayClient, str, Sequence[Diagnosis]], Awaitable[Sequence[InterpretedGap]]]


async def _run_suite(
    suite: Suite,
    asked: Mapping[str, Any],
    connecting: AbstractAsyncContextManager[GatewayClient],
    *,
    quiet: bool,
    then: Then | None = None,
) -> RunResults:
    async with connecting as client:
        started = await client.start({**asked, "suite_hash": await client.keep(suite)})
        run_id = started.run.id
        await _watch(client, run_id, started.opening, quiet=quiet)
        outcome = await with_findable(client, await run_results(client, run_id))
        if then is not None and outcome.diagnoses:
            said = await then(client, run_id, outcome.diagnoses)
            outcome = replace(outcome, interpretations=said)
        return outcome


async def _watch(client: GatewayClient, run_id: str, opening: int, *, quiet: bool) -> None:
    """Show how far the run is, until it is diagnosed."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as bars:
        asked = bars.add_task("answered", total=None)
        measured = bars.add_task("measured", total=None)
        judged: TaskID | None = None
        said: set[str] = set()
        async for progress in client.follow(run_id, opening):
            for each in (each for each in progress.paused if each.lane not in said):
                said.add(each.lane)
                typer.echo(printable(each.in_words()), err=True)
            _end_where_all_waits(progress)
            bars.update(asked, completed=progress.responses, total=progress.probes)
            bars.update(measured, completed=progress.features, total=progress.features_expected)
            if expected := progress.verdicts_expected:
                judged = bars.add_task("judged", total=expected) if judged is None else judged
                bars.update(judged, completed=progress.verdicts)


def _end_where_all_waits(progress: RunProgress) -> None:
    """Raise TransientError where nothing but refused targets is left, tried again in vain."""
    left = progress.probes - progress.responses
    tried = all(each.refusals >= TRIED_IN_VAIN for each in progress.paused)
    if progress.paused and tried and 0 < left == progress.held:
        raise TransientError(
            f"{left} of {progress.probes} answers of the run {progress.run_id} wait, and the same"
            f" command goes on once they come: {printable(progress.paused[0].in_words())}"
        )


def _finish(work: Any, as_json: bool, rule: CheckRule | None = None) -> None:
    try:
        outcome: RunResults = asyncio.run(work)
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command again goes on where this one stopped.", err=True)
        raise typer.Exit(TransientError.exit_code) from None
    print_results(outcome, as_json=as_json)
    end_check(checked_diagnoses(outcome.diagnoses), rule, outcome.incomplete)
    if outcome.run.state is not RunState.COMPLETE:
        raise typer.Exit(TransientError.exit_code)
