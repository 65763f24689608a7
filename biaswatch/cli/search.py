"""The verb `search`."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field, NonNegativeInt, PositiveInt
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from biaswatch.checks import CheckedComparison, CheckRule
from biaswatch.cli.options import CheckRequest, Json, end_check, gateway
from biaswatch.cli.requests import with_options_of
from biaswatch.cli.searches import Output, show_result, suite_of
from biaswatch.local.client import GatewayClient
from biaswatch.local.searches import follow_search, start_search
from biaswatch.planning.costs import EstimatedSpending, estimated_spending, in_words
from biaswatch.readers.spaces import load_space
from biaswatch.readers.targets import check_local, check_recordings, read_target, sent_target
from biaswatch.render.terminal import print_json, printable
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.analysis.search import Ended, next_round, replay
from biaswatch.shared.contracts import MeasuredAnswers, Suite, as_usage_error
from biaswatch.shared.contracts.search import MOST_CALLS, Search
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.requests.search_views import (
    SearchProgress,
    SearchRequest,
    SearchStatus,
    SearchView,
)
from biaswatch.shared.runtime.settings import load_settings
from biaswatch.shared.stats.estimate import SummaryWord

INTERRUPTED = (
    "Stopped. The same command again, without --more, goes on where this one stopped. A platform"
    " that is up continues the search: `biaswatch searches cancel SEARCH` ends it."
)


class SearchVerb(CheckRequest):
    """The fields of `search`."""

    space: str
    """The scenarios: a YAML file, or `everyday`, which is shipped."""
    budget: PositiveInt = Field(default=2000, le=MOST_CALLS)
    """The budget in calls; with a larger one, the same command goes on."""
    more: PositiveInt | None = None
    """Continue with this number of calls more; each time it is given."""
    propose: str | None = None
    """A model that proposes further scenarios from the space and the evidence so far."""
    alpha: float = Field(default=0.05, gt=0, lt=1)
    """The largest chance of any false finding of the whole search."""
    seed: NonNegativeInt = 0
    """The seed of everything that is drawn."""
    sets_per_round: PositiveInt = Field(default=20, le=500)
    """Sets of twins sent per round."""
    dry_run: bool = False
    """Only estimate the calls and the cost."""
    nonce: str = ""
    """Another value starts the same search afresh."""


@with_options_of(
    SearchVerb,
    "space",
    "budget",
    "more",
    "alpha",
    "seed",
    "propose",
    "dry_run",
    "fail_on",
    "min_measured",
)
def search(
    target: Annotated[
        str, typer.Argument(help="The model: provider:model, or provider:model@URL.")
    ],
    request: SearchVerb,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Look for bias anywhere in a space of scenarios. Repeated, it resumes."""
    rule = request.rule()
    space, server = load_space(request.space), gateway().server
    chosen = read_target(target)
    proposer = read_target(request.propose) if request.propose else None
    with as_usage_error("The search"):
        body = SearchRequest(
            space=space,
            target=sent_target(target, server),
            proposer=sent_target(request.propose, server) if request.propose else None,
            calls=request.budget,
            **request.model_dump(include={"alpha", "seed", "sets_per_round", "nonce"}),
        )
    if request.dry_run:
        plan = Search(target=chosen, at=datetime.now(UTC), **_plan(body))
        spending = _spending(plan, request)
        print_json([spending]) if as_json else typer.echo(printable(in_words(spending)))
        return
    if not server:
        models = [chosen, proposer] if proposer else [chosen]
        check_recordings(models)
        check_local(models)
    try:
        view, suite = asyncio.run(
            _followed(gateway().connect(), body, request.more, output, quiet=as_json)
        )
    except KeyboardInterrupt:
        typer.echo(INTERRUPTED, err=True)
        raise typer.Exit(TransientError.exit_code) from None
    show_result(view, suite, output, as_json=as_json)
    _finish(view, rule)


def _plan(body: SearchRequest) -> dict[str, object]:
    return {
        name: getattr(body, name)
        for name in type(body).model_fields
        if name not in {"target", "proposer"}
    }


def _spending(search: Search, request: SearchVerb) -> EstimatedSpending:
    """Estimate the spending from the suite of the first round."""
    planned = next_round(replay(search, ()))
    if isinstance(planned, Ended):
        raise UsageError(f"The search would send no calls. {planned.reason}")
    settings = load_settings(GeneratorSettings)
    [spending] = estimated_spending(
        planned.suite, [search.target], planned.suite.scaffolds, 1,
        at=search.at, prices=settings.prices(), at_once=settings.generator_start,
    )  # fmt: skip
    share = (search.calls + (request.more or 0)) / len(planned.suite.probes)
    return replace(
        spending,
        calls=ceil(spending.calls * share),
        tokens_read=ceil(spending.tokens_read * share),
        tokens_written=ceil(spending.tokens_written * share),
        cost=None if spending.cost is None else spending.cost * share,
        seconds=spending.seconds * share,
    )


async def _followed(
    connection: AbstractAsyncContextManager[GatewayClient],
    body: SearchRequest,
    more: int | None,
    output: Path | None,
    *,
    quiet: bool,
) -> tuple[SearchView, Suite | None]:
    async with connection as client:
        progress = await start_search(client, body, more)
        view = await _watch(client, progress, quiet=quiet)
        return view, await suite_of(client, view, output)


async def _watch(client: GatewayClient, progress: SearchProgress, *, quiet: bool) -> SearchView:
    """Show calls and findings of a search until it is over."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    shown: set[str] = set()
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as bars:
        calls = bars.add_task("calls", total=progress.budget)
        async for view in follow_search(client, progress.search_id):
            progress = view.progress
            bars.update(calls, completed=progress.calls, total=progress.budget)
            news = [f"Found: {finding.title}." for finding in view.results.findings]
            news += [progress.why] if progress.why and not progress.over else []
            for sentence in news:
                if sentence not in shown:
                    typer.echo(printable(sentence), err=True)
                    shown.add(sentence)
    return view


def _finish(view: SearchView, rule: CheckRule | None) -> None:
    """Exit by the result of a search."""
    stopped = view.progress.why if view.progress.status is SearchStatus.STOPPED else None
    end_check(checked_findings(view), rule, stopped or _unknown_sizes(view, rule))
    if stopped or view.results.word is SummaryWord.NOT_MEASURED:
        raise typer.Exit(TransientError.exit_code)


def _unknown_sizes(view: SearchView, rule: CheckRule | None) -> str | None:
    """Return why a gate on the size of gaps cannot pass; None if each finding has a gap."""
    if rule is None or not rule.least_size:
        return None
    unknown = [one for one in view.results.findings if one.effect.value is None]
    reasons = (f"The gap of {one.title} is not known: {one.effect.reason}." for one in unknown)
    return " ".join(reasons) or None


def checked_findings(view: SearchView) -> list[CheckedComparison]:
    """Return the findings as gates look at them; one inconclusive comparison without any."""
    spent, progress = view.results.spent, view.progress
    if not spent.calls:
        return []
    side = MeasuredAnswers(f"{progress.space}", spent.calls - spent.missing, spent.calls)
    findings = [
        CheckedComparison(
            where=f"{progress.target}, {finding.title}",
            groups=f"{finding.group} against {finding.other}",
            verdict=SummaryWord.DISPARITY.value,
            size=finding.effect.value,
            sides=(side,),
            survives_missing=None,
        )
        for finding in view.results.findings
    ]
    inconclusive = CheckedComparison(
        where=f"{progress.target}, {progress.space}",
        groups="",
        verdict=SummaryWord.INCONCLUSIVE.value,
        size=None,
        sides=(side,),
        survives_missing=None,
    )
    return findings or [inconclusive]
