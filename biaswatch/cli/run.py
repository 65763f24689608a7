"""The verbs that ask models: `run` and `demo`."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import uuid4

import typer
from pydantic import Field, PositiveFloat, PositiveInt
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
from biaswatch.cli.options import CheckRequest, Json, SuiteFile, end_check, gateway
from biaswatch.cli.requests import takes
from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import AddressFile
from biaswatch.local.runs import (
    InterpretedGap,
    RunResults,
    check_not_refused,
    ended_run,
    run_results,
)
from biaswatch.planning.costs import EstimatedSpending, estimated_spending, in_words
from biaswatch.planning.findable_gaps import with_findable
from biaswatch.readers.contexts import with_contexts
from biaswatch.readers.suite_names import DEMO_SUITE, SHIPPED
from biaswatch.readers.suites import load_suite, pilot_of, undeclared_range
from biaswatch.readers.targets import (
    check_local,
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
from biaswatch.shared.contracts import Budget, Diagnosis, Suite, Target, set_of
from biaswatch.shared.errors import TransientError
from biaswatch.shared.presentation.run_summary import mostly_missing
from biaswatch.shared.requests.run_views import RunProgress, RunState
from biaswatch.shared.requests.runs import NO_JUDGE, SELF, RunRequest, check_repeats
from biaswatch.shared.runtime.settings import Settings, load_settings


class RunVerb(CheckRequest):
    """The fields of `run`."""

    target: tuple[str, ...] = Field(min_length=1)
    """provider:model or provider:model@URL; may be repeated."""
    scaffold: tuple[str, ...] = ()
    """How a probe becomes calls to a model; default as the suite declares; may be repeated."""
    repeats: PositiveInt = 1
    """How often to ask each probe."""
    limit: PositiveInt | None = None
    """A pilot: only this number of whole sets, balanced over groups."""
    contexts: Path | None = None
    """A folder of contexts to ask every probe in; gaps are also compared by context."""
    judge: tuple[str, ...] = ()
    """Judge of pairs: provider:model, `self` (the default) or `none`; may be repeated."""
    controls: bool = True
    """Test judges with questions whose answers are known; true by default."""
    token_budget: PositiveInt | None = None
    """Stop at this number of tokens; with a larger budget, the same command goes on."""
    cost_budget: PositiveFloat | None = Field(default=None, allow_inf_nan=False)
    """Stop at this cost, by your own price table."""
    dry_run: bool = False
    """Show the number of calls and their estimated cost, and make no call."""
    new: bool = False
    """Start the same run afresh instead of resuming it."""
    controls_per_kind: int = Field(default=40, ge=4, le=60)
    """Questions of each kind and direction that examine a judge; 3 of 4 have to be right."""
    user: str | None = None
    """Simulated user of conversations: provider:model; by default each target plays its own."""
    judge_seed: int = 0
    """Seed of what judges are shown: distractors, order."""
    jury: Literal["majority", "weighted"] = "majority"
    """How several judges decide: by majority, or weighted by their accuracy on controls."""
    processes: bool = False
    """Start each service as its own process, where no platform runs."""


@takes(
    RunVerb, "target", "scaffold", "repeats", "limit", "contexts", "judge", "token_budget",
    "cost_budget", "dry_run", "fail_on", hidden=("controls",),
)  # fmt: skip
def run(suite: SuiteFile, request: RunVerb, as_json: Json = False) -> None:
    """Ask models the questions of a suite and show the findings. Repeated, it resumes."""
    rule = request.rule()
    whole = with_contexts(load_suite(suite), request.contexts)
    targets = [read_target(target) for target in request.target]
    suite_part = whole if request.limit is None else pilot_of(whole, request.limit)
    scaffolds = request.scaffold or whole.scaffolds
    check_repeats(scaffolds, request.repeats)
    check_scaffolds(suite_part, targets, scaffolds)
    judges = [read_target(judge) for judge in request.judge if judge not in {SELF, NO_JUDGE}]
    spending = _spending(suite_part, targets, judges, request)
    if request.dry_run:
        _print_remarks(whole, suite_part)
        _show_spending(spending, as_json=as_json, dry_run=True)
        return
    server = gateway().server
    users = [read_target(request.user)] if request.user else []
    budget = Budget(tokens=request.token_budget, cost=request.cost_budget)
    _check_here([*targets, *judges, *users], budget, server)
    _print_remarks(whole, suite_part)
    if any(estimate.paid for estimate in spending):
        _show_spending(spending, as_json=False, dry_run=False)
    body = RunRequest(
        suite_hash=suite_part.hash,
        targets=[sent_target(target, server) for target in request.target],
        scaffolds=list(request.scaffold),
        repeats=request.repeats,
        nonce=uuid4().hex if request.new else "",
        budget=budget,
        user=sent_target(request.user, server) if request.user else None,
        judges=[sent_target(judge, server) for judge in request.judge],
        judge_seed=request.judge_seed,
        judge_controls=request.controls,
        controls_per_kind=request.controls_per_kind,
        jury=request.jury,
    )
    connection = gateway().connect(as_processes=request.processes)
    _finish(_run_suite(suite_part, body, connection, quiet=as_json), as_json, rule)


def _print_remarks(whole: Suite, suite_part: Suite) -> None:
    """Print remarks on the suite before the run."""
    if remark := undeclared_range(whole):
        typer.echo(printable(remark), err=True)
    if suite_part is not whole:
        typer.echo(printable(pilot_sentence(whole, suite_part)), err=True)


def pilot_sentence(whole: Suite, pilot: Suite) -> str:
    """Return a sentence on the part of a suite that a pilot asks."""
    sets, chosen = (len({set_of(probe) for probe in suite.probes}) for suite in (whole, pilot))
    return (
        f"This is a pilot ({pilot.name}): {chosen} of {sets} sets, {len(pilot.probes)} of"
        f" {len(whole.probes)} probes. It tests the set-up: run the whole suite before you draw"
        " conclusions."
    )


def _spending(
    suite: Suite, targets: Sequence[Target], judges: Sequence[Target], request: RunVerb
) -> list[EstimatedSpending]:
    """Return the estimated spending of the targets, then of the examination of the judges."""
    settings = load_settings(GeneratorSettings)
    spending = estimated_spending(
        suite, targets, request.scaffold or suite.scaffolds, request.repeats,
        at=datetime.now(UTC), prices=settings.prices(), at_once=settings.generator_start,
    )  # fmt: skip
    if not suite.pairs or not request.controls or NO_JUDGE in request.judge:
        return spending
    # Imported late: its libraries load slowly.
    from biaswatch.planning.examinations import pair_examinations

    return spending + pair_examinations(
        suite, judges or targets, count=request.controls_per_kind, seed=request.judge_seed
    )


def _show_spending(spending: Sequence[EstimatedSpending], *, as_json: bool, dry_run: bool) -> None:
    """Show the estimated calls and cost: the output of a dry run, otherwise a remark."""
    if as_json:
        print_json(spending)
        return
    for estimate in spending:
        typer.echo(printable(in_words(estimate)), err=not dry_run)


def _check_here(targets: Sequence[Target], budget: Budget, server: str | None) -> None:
    """Check the models and budgets that only a local platform can check."""
    if server:
        return
    check_recordings(targets)
    check_local(targets)
    if not AddressFile(load_settings(Settings).state_dir).read():  # one starts with these settings
        from biaswatch.services.simulator.app import read_settings

        check_simulated(targets, read_settings().models)
        check_means(targets, budget, load_settings(GeneratorSettings))


def demo(
    llm: Annotated[
        bool, typer.Option("--llm", help="Examine SmolLM2, a real model that runs on this machine.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Find a planted bias, and no bias in a fair model: simulated models, nothing to set up."""
    if llm:
        _demo_llm(as_json)
        return
    suite = load_suite(DEMO_SUITE)
    body = RunRequest(
        suite_hash=suite.hash, targets=["simulator:biased", "simulator:unbiased"], repeats=5
    )

    async def interpreted(
        client: GatewayClient, run_id: str, diagnoses: Sequence[Diagnosis]
    ) -> Sequence[InterpretedGap]:
        from biaswatch.cli.interpret import interpret_run

        return await interpret_run(
            client,
            run_id,
            diagnoses,
            writer=DEMO_WRITER,
            judges=DEMO_JUDGES,
            controls_per_kind=DEMO_CONTROLS_PER_KIND,
        )

    _finish(_run_suite(suite, body, gateway().connect(), quiet=as_json, then=interpreted), as_json)


DEMO_CONTROLS_PER_KIND = 8
"""Controls of each dimension and grade: the demo examines its judges within seconds."""
LLM_SUITE, LLM_SETS = SHIPPED / "lending", 10
LLM_TARGET, LLM_SCAFFOLD = "local:smollm2?max_tokens=24", "direct-schema"
"""Size of `demo --llm`: at most five minutes on two cores."""


def _demo_llm(as_json: bool) -> None:
    """Ask SmolLM2 part of a suite; where it gives no rating, under a schema."""
    check_local([read_target(LLM_TARGET)])
    suite = pilot_of(load_suite(LLM_SUITE), LLM_SETS)
    body = RunRequest(suite_hash=suite.hash, targets=[LLM_TARGET], scaffolds=[LLM_SCAFFOLD])
    _finish(_run_suite(suite, body, gateway().connect(), quiet=as_json), as_json)


Then = Callable[[GatewayClient, str, Sequence[Diagnosis]], Awaitable[Sequence[InterpretedGap]]]


async def _run_suite(
    suite: Suite,
    body: RunRequest,
    connection: AbstractAsyncContextManager[GatewayClient],
    *,
    quiet: bool,
    then: Then | None = None,
) -> RunResults:
    async with connection as client:
        run_id = await ended_run(client, suite, body, partial(watched, quiet=quiet))
        results = await with_findable(client, await run_results(client, run_id))
        if then is not None and results.diagnoses:
            interpretations = await then(client, run_id, results.diagnoses)
            results = replace(results, interpretations=interpretations)
        return results


utc_now = partial(datetime.now, UTC)
RESUMED_AFTER_S = 60
"""Age of a run from which its earlier answers are mentioned."""


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
    now: Callable[[], datetime] = utc_now,
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


def _finish(
    work: Coroutine[Any, Any, RunResults], as_json: bool, rule: CheckRule | None = None
) -> None:
    try:
        results = asyncio.run(work)
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command again goes on where this one stopped.", err=True)
        raise typer.Exit(TransientError.exit_code) from None
    print_results(results, as_json=as_json)
    end_check(checked_diagnoses(results.diagnoses), rule, results.incomplete)
    if results.run.state is not RunState.COMPLETE or mostly_missing(results.diagnoses):
        raise typer.Exit(TransientError.exit_code)
