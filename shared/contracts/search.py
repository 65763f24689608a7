"""Records of searches: the plan with its space of scenarios, and the answers of each round."""

from enum import StrEnum
from typing import Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from biaswatch.shared.contracts.identity import Name, RecordId, Token, derived_id
from biaswatch.shared.contracts.record import Part, Purpose, Record, computed_once
from biaswatch.shared.contracts.target import Target

PERSON = "{person}"
"""Placeholder for the person in a prompt; twins differ only in its replacement."""
MOST_TOPICS, MOST_CONTEXTS, MOST_GROUPS, MOST_PERSONS = 1_000, 50, 8, 2_000
MOST_CALLS = 1_000_000
DIRECT = "direct"
MOST_PROPOSED = 50
"""Scenarios of a search that a model may propose; each has an equal share of their alpha."""
PROPOSED = "proposed-"
"""Beginning of the names of proposed scenarios."""


class Topic(Part):
    """A topic of scenarios, with wordings of its question."""

    area: Name
    """The area of life, for overviews: work, health."""
    prompts: tuple[str, ...] = Field(min_length=1, max_length=50)
    """Wordings of the question, with `{person}` once or more; each set draws one."""

    @model_validator(mode="after")
    def _name_a_person(self) -> Self:
        for prompt in self.prompts:
            if PERSON not in prompt:
                raise ValueError(f"the prompt {prompt[:60]!r} lacks {PERSON}")
        return self


class Space(Part):
    """All scenarios that a search may ask: topics crossed with contexts and persons."""

    name: Token
    """The name of the space."""
    about: str = ""
    """The description of the space."""
    dimension: Token
    """The dimension of the groups: gender."""
    groups: dict[Name, tuple[str, ...]] = Field(min_length=2, max_length=MOST_GROUPS)
    """Persons by group, as words for `{person}`; each set draws one of each group."""
    topics: dict[Token, Topic] = Field(min_length=1, max_length=MOST_TOPICS)
    """The topics."""
    contexts: dict[Token, str] = Field(default={"none": ""}, max_length=MOST_CONTEXTS)
    """Texts before the question, by context."""
    extractor: Token = "rating"
    """The extractor that measures the answers."""
    feature: Name = "rating"
    """The feature that is compared."""
    low: float = 1
    """The least value of the feature."""
    high: float = 5
    """The largest value of the feature."""
    scaffold: Token = DIRECT
    """How a question becomes an answer; a twin is one call of the budget with any."""
    request: str = "Answer with a line `Rating: N`, where N is a whole number from 1 to 5."
    """Text after the question, which asks for the rating."""

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        if not self.low < self.high:
            raise ValueError("`low` must be below `high`")
        if any(name.startswith(PROPOSED) for name in self.topics):
            raise ValueError(f"names of topics may not begin with `{PROPOSED}`")
        if any(not 1 <= len(persons) <= MOST_PERSONS for persons in self.groups.values()):
            raise ValueError(f"a group needs 1 to {MOST_PERSONS:,} persons")
        return self


class Search(Record):
    """A plan of a search; with a larger budget, the same search continues."""

    kind = "search"
    identity = ("space_hash", "lanes", "alpha", "sets_per_round", "seed", "nonce")

    purpose: Purpose = Purpose.SEARCH
    """The purpose of its runs."""
    space: Space
    """The scenarios."""
    target: Target
    """The target."""
    proposer: Target | None = None
    """The model that proposes further scenarios."""
    calls: PositiveInt = Field(le=MOST_CALLS)
    """The budget; not part of the id: it may be raised."""
    alpha: float = Field(default=0.05, gt=0, lt=1)
    """The error of the whole search: the largest chance of any false finding."""
    sets_per_round: PositiveInt = Field(default=20, le=500)
    """The number of sets whose answers are read together."""
    seed: NonNegativeInt = 0
    """The seed of everything that is drawn."""
    nonce: str = ""
    """Another value starts the same search afresh."""

    @computed_once
    def space_hash(self) -> str:
        """The hash of the space."""
        # Without the default scaffold, as in versions without the field.
        default = {"scaffold"} if self.space.scaffold == DIRECT else None
        return derived_id("space", self.space.model_dump_json(exclude=default))

    @property
    def lanes(self) -> list[str]:
        """The target and the model that proposes scenarios, with their parameters."""
        return [target.lane for target in (self.target, self.proposer) if target]


class SetPurpose(StrEnum):
    """The purpose of a set of twins."""

    EVIDENCE = "evidence"
    PLACEBO = "placebo"
    """All persons are of one group; not evidence."""
    CONFIRMATION = "confirmation"
    """Fresh twins for a finding, asked after it; not evidence."""


class AskedSet(Part):
    """One set of twins, and its measured answers."""

    topic: Token
    """The topic."""
    context: Token
    """The context."""
    purpose: SetPurpose = SetPurpose.EVIDENCE
    """The purpose of the set."""
    values: tuple[float | None, ...]
    """The answers in the order of the space's groups; null where nothing was measured."""


class SearchRound(Record):
    """The answers of one round of a search; its evidence is computed from all rounds."""

    kind = "search-round"
    identity = ("search_id", "number")

    purpose: Purpose = Purpose.SEARCH
    """The purpose of its run."""
    search_id: RecordId
    """The search."""
    number: NonNegativeInt
    """The position of the round, from 0."""
    run_id: RecordId
    """The run that asked the sets."""
    sets: tuple[AskedSet, ...]
    """The sets, in drawing order; empty in a round that requested scenarios."""
    proposed: dict[Token, Topic] = {}
    """Scenarios that it proposed and that were accepted, by name."""
    refused: NonNegativeInt = 0
    """Scenarios that it proposed and that were not."""
