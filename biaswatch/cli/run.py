"""The verb `run`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from uuid import uuid4

import typer
from pydantic import Field, PositiveFloat, PositiveInt

from biaswatch.cli.options import CheckRequest, Json, SuiteFile, gateway
from biaswatch.cli.requests import with_options_of
from biaswatch.cli.run_progress import finish, run_suite
from biaswatch.local.connections import AddressFile
from biaswatch.planning.costs import EstimatedSpending, estimated_spending, in_words
from biaswatch.readers.contexts import with_contexts
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
from biaswatch.render.terminal import print_json, printable
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.contracts import Budget, Suite, Target, set_of
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


@with_options_of(
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
    finish(run_suite(suite_part, body, connection, quiet=as_json), as_json, rule)


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
