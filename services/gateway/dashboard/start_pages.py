"""The page that starts a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from secrets import token_hex
from shlex import quote
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, ConfigDict, Field

from biaswatch.services.gateway.auth import PAGE_HEADERS
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.dashboard.forms import (
    IdempotentForms,
    PageForms,
    forms_with,
    sent_form,
)
from biaswatch.services.gateway.dashboard.rendering import page
from biaswatch.services.gateway.runs.commands import run_commands, start_run
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Budget, Run, SuiteOutline, as_usage_error
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.overview import (
    SCAFFOLDS,
    EarlierSpending,
    RunEstimate,
    counts_note,
    estimates_of,
)
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.requests.run_views import RunProgress
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.shared.runtime.jobs import in_thread
from biaswatch.shared.store import Store

START = "/start"
MAX_SUITES = 200
MAX_DECIDED = 3
"""Earlier runs whose results are shown before a new one."""
MAX_RUNS = 200
"""Earlier runs that are considered."""


@dataclass(frozen=True)
class StartQueries:
    """Blocking queries of the options for a new run; call them in a thread."""

    store: Store
    runs: RunQueries

    def suites(self) -> list[SuiteOutline]:
        """Return the usable suites of the caller's tenant, the latest first."""
        return [suite for suite in self.store.suites.latest(MAX_SUITES) if not suite.purged]

    def targets(self) -> list[str]:
        """Return the targets of earlier runs."""
        return sorted({name for run in self.runs.latest(MAX_RUNS) for name in run.targets})

    def decided(self, suite: str) -> list[str]:
        """Return what the latest runs of a suite could decide, the latest first."""
        runs = [run for run in self.runs.latest(MAX_RUNS) if run.suite == suite and run.ended]
        ids = {run.run_id for run in runs[:MAX_DECIDED]}
        listed = self.runs.latest(MAX_RUNS, found=True) if ids else []
        return [
            f"{run.at:%Y-%m-%d}, {run.responses:,} answers by {', '.join(run.targets)}:"
            f" {words(run.found.word)}, {counts_note(run.found)}"
            for run in listed
            if run.run_id in ids and run.found
        ]

    def estimates(self, run: Run) -> list[RunEstimate]:
        """Return the number of calls and the likely cost for each target of a run."""
        outline = self.store.suites.outline(run.suite_hash)
        latest = self.runs.latest(MAX_RUNS)
        earlier = [self._earlier(run, target.name, latest) for target in run.targets]
        return estimates_of(run, outline.probes if outline else 0, earlier)

    def _earlier(
        self, run: Run, target: str, latest: Sequence[RunProgress]
    ) -> EarlierSpending | None:
        """Add up the runs that asked only this target, through the same scaffolds."""
        responses = {
            earlier.run_id: earlier.responses
            for earlier in latest
            if earlier.suite == run.suite and earlier.targets == [target] and earlier.responses
        }
        same = [id_ for id_ in responses if self.runs.run(id_).scaffolds == run.scaffolds]
        spending = self.store.calls.spending(same)
        answers = sum(responses[id_] for id_ in spending)
        if not answers:
            return None
        tokens = sum(spent.tokens for spent in spending.values())
        return EarlierSpending(answers, tokens, sum(spent.cost for spent in spending.values()))


class StartForm(BaseModel):
    """Fields of the form; each may be missing."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    suite: str = Field(default="", max_length=64)
    targets: str = Field(default="", max_length=4000)
    """A target on each line."""
    model: list[Annotated[str, Field(max_length=1000)]] = Field(default=[], max_length=100)
    """Picked targets of earlier runs."""
    scaffold: str = Field(default="", max_length=100)
    """Empty for the scaffolds that the suite declares."""
    repeats: str = Field(default="1", max_length=9)
    most_tokens: str = Field(default="", max_length=15)
    most_cost: str = Field(default="", max_length=15)
    nonce: str = Field(default="", max_length=64)
    """Created with the page, so that sending the form twice starts one run."""

    @property
    def is_filled(self) -> bool:
        """True if the form is complete enough for an estimate."""
        return bool(self.suite and self.all_targets)

    @property
    def all_targets(self) -> list[str]:
        """The picked targets, then those that were typed, each once."""
        typed = filter(None, map(str.strip, self.targets.splitlines()))
        return list(dict.fromkeys([*self.model, *typed]))

    def request(self) -> RunRequest:
        """Return the form as a request of the API; raise UsageError for invalid fields."""
        with as_usage_error("The run"):
            budget = Budget.model_validate(
                {"tokens": self.most_tokens or None, "cost": self.most_cost or None}
            )
            return RunRequest.model_validate(
                {
                    "suite_hash": self.suite,
                    "targets": self.all_targets,
                    "scaffolds": [self.scaffold] if self.scaffold else [],
                    "repeats": self.repeats,
                    "budget": budget,
                    "nonce": self.nonce,
                }
            )


def command_of(run: Run, form: StartForm) -> str:
    """Return the same run as a command."""
    parts = ["biaswatch run", quote(run.suite), *(f"--target {quote(t.name)}" for t in run.targets)]
    options = (
        ("--scaffold", form.scaffold),
        ("--repeats", form.repeats),
        ("--token-budget", form.most_tokens),
        ("--cost-budget", form.most_cost),
    )
    return " ".join([*parts, *(f"{name} {quote(value)}" for name, value in options if value)])


def router(ctx: GatewayContext) -> APIRouter:
    """Return the page and the route of its form."""
    router, runs = APIRouter(), RunQueries(ctx.store)
    page_forms, forms = forms_with(ctx.tokens), IdempotentForms(ctx.store, now)
    queries, commands = StartQueries(ctx.store, runs), run_commands(ctx, runs)

    def planned(form: StartForm) -> tuple[Run | None, str]:
        """Return the run of a form, or why it is invalid."""
        if not form.is_filled:
            return None, ""
        try:
            return commands.run_for(form.request()), ""
        except UsageError as error:
            return None, str(error)

    @router.get(START)
    def show_start(
        form: Annotated[StartForm, Query()], page_forms: Annotated[PageForms, Depends(page_forms)]
    ) -> HTMLResponse:
        run, wrong = planned(form) if page_forms.allowed else (None, "")
        shown = page(
            "start.html",
            forms=page_forms,
            asked=form,
            wrong=wrong,
            estimates=queries.estimates(run) if run else [],
            decided=queries.decided(run.suite) if run else [],
            command=command_of(run, form) if run else "",
            suites=queries.suites(),
            targets=queries.targets(),
            scaffolds=SCAFFOLDS,
            patterns=commands.allowed.patterns,
            nonce=token_hex(8),
        )
        return page_forms.with_cookie(shown)

    @router.post(START)
    async def start(
        request: Request, caller: Annotated[Caller, Depends(ctx.tokens.signed_in)]
    ) -> RedirectResponse:
        fields = await sent_form(request, caller)
        with as_usage_error("The run"):
            form = StartForm.model_validate(fields)
        run_request = form.request()
        run = await in_thread(commands.run_for, run_request)
        await forms.once(request, caller, partial(start_run, run_request, commands, ctx))
        return RedirectResponse(f"/runs/{run.id}", 303, PAGE_HEADERS)

    return router
