"""Searches as they are requested, and their state in responses."""

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator

from biaswatch.shared.contracts.search import MOST_CALLS, Space
from biaswatch.shared.requests.runs import LONGEST_NONCE
from biaswatch.shared.requests.searches import SearchResults


class SearchRequest(BaseModel):
    """The body of a request for a search; the same again, with more calls, continues it."""

    model_config = ConfigDict(extra="forbid")

    space: Space
    """The scenarios, of at most one mebibyte."""
    target: str
    """The target: provider:model or provider:model@URL."""
    proposer: str | None = None
    """The model that proposes further scenarios, as a target."""
    calls: int = Field(default=2000, ge=1, le=MOST_CALLS)
    """The budget in calls."""
    alpha: float = Field(default=0.05, gt=0, lt=1)
    """The largest chance of any false finding of the whole search."""
    sets_per_round: PositiveInt = Field(default=20, le=500)
    """Sets of twins sent per round."""
    seed: int = Field(default=0, ge=0)
    """The seed of everything that is drawn."""
    nonce: str = Field(default="", max_length=LONGEST_NONCE)
    """Another value starts the same search afresh."""

    @model_validator(mode="after")
    def _asks_a_set(self) -> Self:
        if self.calls < (twins := len(self.space.groups)):
            raise ValueError(f"a set of twins needs {twins} calls, and the budget is {self.calls}")
        return self


class SearchBudget(BaseModel):
    """The body of a request to raise the budget of a search."""

    model_config = ConfigDict(extra="forbid")

    calls: int = Field(ge=1, le=MOST_CALLS)
    """The new budget in calls, with those that were made."""


class SearchStatus(StrEnum):
    """The status of a search."""

    RUNNING = "running"
    WAITING = "waiting"
    """It cannot continue now; `why` says what it needs."""
    ENDED = "ended"
    """The rest of its budget cannot find anything more; a larger budget continues it."""
    STOPPED = "stopped"
    """A person or an error ended it; the same request continues it."""


class SearchProgress(BaseModel):
    """The state of a search."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    search_id: str
    """Its id."""
    space: str
    """The name of the space."""
    target: str
    """The target."""
    at: datetime
    """When it began."""
    status: SearchStatus
    """Its status."""
    why: str | None = None
    """Why it waits, has ended or was stopped."""
    budget: int
    """The budget in calls."""
    calls: int
    """Calls of closed rounds, and answered ones of the round under way."""
    missing: int
    """Calls of closed rounds without a measured answer."""
    rounds: int
    """Closed rounds."""
    run_id: str | None = None
    """The run of the round under way."""

    @property
    def over(self) -> bool:
        """True if nothing is under way."""
        return self.status in {SearchStatus.ENDED, SearchStatus.STOPPED} and self.run_id is None


class ExampleAnswer(BaseModel):
    """The answer to one twin."""

    group: str
    """The group of the person."""
    value: float | None
    """The measured value; null where nothing was measured."""
    prompt: str | None = None
    """The prompt; null without the right to texts, or after a purge."""
    text: str | None = None
    """The answer; null as the prompt, or where the target gave none."""


class TwinExample(BaseModel):
    """A set of twins of a finding, side by side."""

    topic: str
    """The topic."""
    context: str
    """The context."""
    run_id: str
    """The run that asked it."""
    twins: list[ExampleAnswer]
    """The answers, in the order of the space's groups."""


class FindingExamples(BaseModel):
    """Examples of one finding."""

    title: str
    """The finding."""
    examples: list[TwinExample]
    """Sets whose gaps are nearest to the median, confirmation twins first."""


class SearchView(BaseModel):
    """A search with its results so far."""

    progress: SearchProgress
    """Its state."""
    results: SearchResults
    """Its results."""
