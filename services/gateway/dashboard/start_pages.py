"""The page that starts a run."""

from dataclasses import dataclass
from functools import partial
from secrets import token_hex
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, ConfigDict, Field

from biaswatch.services.gateway.auth import PAGE_HEADERS, Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.dashboard.actions import PageActions
from biaswatch.services.gateway.dashboard.forms import PageForms, forms_with, sent_form
from biaswatch.services.gateway.dashboard.rendering import page
from biaswatch.services.gateway.runs.commands import started_run
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Budget, Run, SuiteOutline
from biaswatch.shared.contracts.mistakes import as_usage_error
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.overview import (
    SCAFFOLDS,
    EarlierSpending,
    RunEstimate,
    estimates_of,
)
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store

MOST_SUITES = 200
MOST_RUNS = 200
"""Earlier runs that are looked at."""


class StartQueries:
    """Reads what there is to start; it blocks, so call it in a thread."""

    def __init__(self, store: Store, runs: RunQueries) -> None:
        self._store = store
        self._runs = runs

    def suites(self) -> list[SuiteOutline]:
        """Return the suites of the caller's tenant that can be asked, the latest first."""
        found = self._store.suites.latest(MOST_SUITES)
        return [each for each in found if not each.purged]

    def targets(self) -> list[str]:
        """Return the models that earlier runs have asked."""
        return sorted({name for run in self._runs.latest(MOST_RUNS) for name in run.targets})

    def estimates(self, run: Run) -> list[RunEstimate]:
        """Return what each target of a run is asked for, and about spends."""
        outline = self._store.suites.outline(run.suite_hash)
        earlier = [self._earlier(run, target.name) for target in run.targets]
        return estimates_of(run, outline.probes if outline else 0, earlier)

    def _earlier(self, run: Run, target: str) -> EarlierSpending | None:
        """Add up the runs that asked this model alone, through the same scaffolds."""
        latest = self._runs.latest(MOST_RUNS)
        mine = {
            each.run_id: each
            for each in latest
            if each.suite == run.suite and each.targets == [target] and each.responses
        }
        alike = [id_ for id_ in mine if self._runs.run(id_).scaffolds == run.scaffolds]
        spent = self._store.calls.spending(alike)
        answers = sum(mine[id_].responses for id_ in spent)
        if not answers:
            return None
        tokens = sum(each.tokens for each in spent.values())
        return EarlierSpending(answers, tokens, sum(each.cost for each in spent.values()))


START = "/start"


class StartForm(BaseModel):
    """What was filled in; everything may still be missing."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    suite: str = Field(default="", max_length=64)
    targets: str = Field(default="", max_length=4000)
    """A target on each line."""
    scaffold: str = Field(default="direct", max_length=100)
    repeats: str = Field(default="1", max_length=9)
    most_tokens: str = Field(default="", max_length=15)
    most_cost: str = Field(default="", max_length=15)
    nonce: str = Field(default="", max_length=64)
    """Made with the page, so that a button that is pressed twice starts one run."""

    @property
    def filled(self) -> bool:
        """Whether there is something to estimate."""
        return bool(self.suite and self.targets.strip())

    def request(self) -> RunRequest:
        """Return the request of the API that says the same.

        Raises
        ------
        UsageError
            Something is no number, or no run has it.
        """
        with as_usage_error("The run"):
            budget = Budget.model_validate(
                {"tokens": self.most_tokens or None, "cost": self.most_cost or None}
            )
            return RunRequest.model_validate(
                {
                    "suite_hash": self.suite,
                    "targets": [each.strip() for each in self.targets.splitlines() if each.strip()],
                    "scaffolds": [self.scaffold],
                    "repeats": self.repeats,
                    "budget": budget,
                    "nonce": self.nonce,
                }
            )


@dataclass(frozen=True)
class StartPage:
    """What the page needs."""

    queries: StartQueries
    actions: PageActions


def start_routes(starting: StartPage, tokens: Tokens) -> APIRouter:
    """Return the page and what its form does."""
    router = APIRouter()
    page_forms, signed_in = forms_with(tokens), Depends(tokens.signed_in)

    @router.get(START)
    def show_start(
        asked: Annotated[StartForm, Query()], forms: Annotated[PageForms, Depends(page_forms)]
    ) -> HTMLResponse:
        run, wrong = _planned(starting.actions, asked) if forms.allowed else (None, "")
        shown = page(
            "start.html",
            forms=forms,
            asked=asked,
            wrong=wrong,
            estimates=starting.queries.estimates(run) if run else [],
            suites=starting.queries.suites(),
            targets=starting.queries.targets(),
            scaffolds=SCAFFOLDS,
            patterns=starting.actions.run_commands.allowed.patterns,
            nonce=token_hex(8),
        )
        return forms.kept_by(shown)

    @router.post(START)
    async def start(request: Request, caller: Annotated[Caller, signed_in]) -> RedirectResponse:
        fields = await sent_form(request, caller)
        with as_usage_error("The run"):
            asked = StartForm.model_validate(fields)
        actions = starting.actions
        wanted, commands = asked.request(), actions.run_commands
        run = await in_thread(commands.run_for, wanted)
        begin = partial(started_run, wanted, commands, actions.send, actions.audit)
        await actions.forms.once(request, caller, begin)
        return RedirectResponse(f"/runs/{run.id}", 303, PAGE_HEADERS)

    return router


def _planned(actions: PageActions, asked: StartForm) -> tuple[Run | None, str]:
    """Return the run that would be started, or why there is none."""
    if not asked.filled:
        return None, ""
    try:
        return actions.run_commands.run_for(asked.request()), ""
    except UsageError as error:
        return None, str(error)
