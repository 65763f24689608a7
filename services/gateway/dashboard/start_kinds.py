"""The work that forms start: a run or a search."""

from dataclasses import dataclass
from importlib.resources import files
from typing import ClassVar

from biaswatch.services.gateway.dashboard.start_forms import (
    MAX_CHOICES,
    Filled,
    FormField,
    KindOptions,
    Preview,
    same,
)
from biaswatch.services.gateway.runs.commands import run_commands, start_run
from biaswatch.services.gateway.searches.commands import SearchCommands
from biaswatch.services.gateway.searches.queries import SearchQueries
from biaswatch.shared.contracts import Budget, as_usage_error
from biaswatch.shared.contracts.search import Space
from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing.yaml_values import parse_yaml
from biaswatch.shared.presentation.overview import SCAFFOLDS
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.shared.requests.search_views import SearchRequest

MAX_SPACES = 50
"""Latest searches whose spaces are offered."""
EVERYDAY = "everyday-space.yaml"


@dataclass(frozen=True)
class RunKind(KindOptions):
    """A run of a stored suite."""

    path: ClassVar[str] = "/start"
    title: ClassVar[str] = "Start a run"
    lead: ClassVar[str] = "Asks models the questions of a suite, and compares the groups once."

    def fields(self, filled: Filled) -> list[FormField]:
        """Return the fields of a run."""
        known = same(self.queries.targets()[:MAX_CHOICES])
        scaffolds = [("", "as the suite declares"), *((name, words(name)) for name in SCAFFOLDS)]
        return [
            self.suite_field(),
            FormField("model", "Models of earlier runs", "choices", known),
            FormField("targets", "Other models, one on each line", "lines", note=self.allowed()),
            FormField(
                "scaffold",
                "Scaffold",
                "choice",
                scaffolds,
                note="how each question is put to the model",
            ),
            FormField("repeats", "Repeats of each question", "number", default="1", required=True),
            FormField("most_tokens", "Token budget", "number"),
            FormField("most_cost", "Cost budget, by the price table", "number"),
        ]

    def is_complete(self, filled: Filled) -> bool:
        """Tell whether a model is chosen, besides the required fields."""
        return bool(filled.lines("model", "targets"))

    def preview(self, filled: Filled) -> Preview:
        """Return calls, cost and power, and the same run as a file."""
        run = run_commands(self.ctx).run_for(self._request(filled, ""))
        parts = len(run.targets) * len(run.scaffolds)
        targets = [target.name for target in run.targets]
        power = self.queries.power(run.suite_hash, targets, parts, run.repeats)
        sections = [
            ("Calls and cost", self.queries.estimates(run)),
            ("Power", power.sentences),
            ("Verdicts of earlier runs of this suite", self.queries.decided(run.suite)),
        ]
        budget = run.budget
        definition = {
            "target": targets,
            "scaffold": filled.lines("scaffold"),
            "repeats": run.repeats,
            "token_budget": budget.tokens,
            "cost_budget": budget.cost,
        }
        repeats = power.table(lambda count: f"{self.path}?{filled.query(repeats=count)}")
        return Preview(
            sections, f"biaswatch run {run.suite} --config run.yaml", definition, repeats
        )

    def address(self, filled: Filled, nonce: str) -> str:
        """Return the address of the run's page."""
        run = run_commands(self.ctx).run_for(self._request(filled, nonce))
        return f"/runs/{run.id}"

    async def start(self, filled: Filled, nonce: str) -> object:
        """Start the run."""
        commands = run_commands(self.ctx)
        return await start_run(self._request(filled, nonce), commands, self.ctx)

    def _request(self, filled: Filled, nonce: str) -> RunRequest:
        with as_usage_error("The run"):
            budget = Budget.model_validate(filled.given(tokens="most_tokens", cost="most_cost"))
            fields = {
                "suite_hash": filled.text("suite"),
                "targets": filled.lines("model", "targets"),
                "scaffolds": filled.lines("scaffold"),
                "budget": budget,
                "nonce": nonce,
            }
            return RunRequest.model_validate(fields | filled.given(repeats="repeats"))


@dataclass(frozen=True)
class SearchKind(KindOptions):
    """A search in a space of scenarios."""

    path: ClassVar[str] = "/start/search"
    title: ClassVar[str] = "Start a search"
    lead: ClassVar[str] = (
        "Looks for bias anywhere in a space of scenarios within a budget; the chance of any false"
        " finding is limited for the whole search."
    )

    def fields(self, filled: Filled) -> list[FormField]:
        """Return the fields of a search."""
        spaces = self._spaces()
        about = " ".join(f"{name}: {space.about}" for name, space in spaces.items() if space.about)
        return [
            FormField(
                "space", "Space of scenarios", "choice", same(spaces), note=about, required=True
            ),
            self.target_field("target", "Model"),
            FormField("calls", "Budget in calls", "number", default="2000", required=True),
            FormField(
                "alpha",
                "Largest chance of any false finding",
                "number",
                default="0.05",
                required=True,
            ),
            self.target_field("proposer", "Model that proposes further scenarios", required=False),
        ]

    def _spaces(self) -> dict[str, Space]:
        """Return the shipped space and those of earlier searches, by name."""
        spaces = {}
        shipped = files("biaswatch") / "suites" / EVERYDAY
        if shipped.is_file():
            space = Space.model_validate(parse_yaml(shipped.read_text(encoding="utf-8")))
            spaces[space.name] = space
        searches = self.ctx.store.searches
        for stored in searches.latest(MAX_SPACES):
            if stored.space not in spaces:
                spaces[stored.space] = searches.plan(stored).space
        return spaces

    def preview(self, filled: Filled) -> Preview:
        """Return calls and rounds of a search, and the same as a file."""
        request = self._request(filled, "")
        self._commands().search_for(request)
        space, groups = request.space, len(request.space.groups)
        sets = request.calls // groups
        calls = (
            f"At most {request.calls:,} calls: {sets:,} sets of {groups} twins, in rounds of"
            f" {request.sets_per_round}."
        )
        cost = self.queries.estimate(request.target, request.calls)
        spread = (
            f"The sets go to {len(space.topics)} topics in {len(space.contexts)} contexts, most of"
            " them where gaps seem large. A region with few sets can hide a large gap."
        )
        sections = [("Calls and cost", [calls, cost]), ("Power", [spread])]
        definition = {
            "space": space.name,
            "budget": request.calls,
            "alpha": request.alpha,
            "propose": request.proposer,
        }
        command = f"biaswatch search {request.target} --config search.yaml"
        return Preview(sections, command, definition)

    def address(self, filled: Filled, nonce: str) -> str:
        """Return the address of the search's page."""
        return f"/searches/{self._commands().search_for(self._request(filled, nonce)).id}"

    async def start(self, filled: Filled, nonce: str) -> object:
        """Start the search."""
        return await self._commands().start(self._request(filled, nonce))

    def _commands(self) -> SearchCommands:
        return SearchCommands(self.ctx, SearchQueries(self.ctx.store))

    def _request(self, filled: Filled, nonce: str) -> SearchRequest:
        space = self._spaces().get(filled.text("space"))
        if space is None:
            raise UsageError("Choose a space of scenarios from the list.")
        fields = filled.given(target="target", calls="calls", alpha="alpha", proposer="proposer")
        with as_usage_error("The search"):
            return SearchRequest.model_validate(fields | {"space": space, "nonce": nonce})
