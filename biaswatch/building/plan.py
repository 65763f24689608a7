"""A plan: what a benchmark is to be about, and how it is to be made."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from biaswatch.shared.contracts.identity import Name, Token

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]


class PlanSection(BaseModel):
    """A piece of a plan; a key nobody knows is a mistake, not a wish."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Inquiry(StrEnum):
    """What a model can be asked about a concept to find keywords."""

    CHARACTERISTICS = "characteristics"
    SUBCATEGORIES = "subcategories"
    SYNONYMS = "synonyms"
    PEOPLE = "people"
    ITSELF = "itself"


class AskForKeywords(PlanSection):
    """Keywords a model names."""

    inquiries: tuple[Inquiry, ...] = Field(default=tuple(Inquiry), min_length=1)
    """What is asked, in turn."""
    rounds: int = Field(default=5, ge=1, le=100)
    """How many questions are put; they go through the inquiries in turn."""
    each: int = Field(default=20, ge=1, le=200)
    """How many keywords a question asks for."""
    most: int = Field(default=20, ge=1, le=1000)
    """How many are kept, the nearest to the concept first."""


class RankWords(PlanSection):
    """Keywords that are the words of the concept's own sources, by nearness to the concept."""

    most: int = Field(default=40, ge=1, le=1000)
    """How many are kept."""


class FollowLinks(PlanSection):
    """Keywords that are the titles the concept's page links to."""

    most: int = Field(default=40, ge=1, le=1000)
    """How many are kept, the nearest to the concept first."""
    names_only: bool = True
    """Whether only titles that look like names of people, places or bodies are kept."""


class Keywords(PlanSection):
    """Where a concept's keywords come from; what several ways find is united."""

    by_hand: tuple[Phrase, ...] = ()
    """Written down."""
    by_model: AskForKeywords | None = None
    """Asked for."""
    by_ranking: RankWords | None = None
    """Taken from the sources."""
    by_links: FollowLinks | None = None
    """Taken from the links of a Wikipedia page."""

    @model_validator(mode="after")
    def _some_way(self) -> "Keywords":
        if not (self.by_hand or self.by_model or self.by_ranking or self.by_links):
            raise ValueError("name a way to keywords: by_hand, by_model, by_ranking or by_links")
        return self


class FilesSource(PlanSection):
    """Text files beside the plan."""

    kind: Literal["files"]
    """What kind of source it is."""
    path: Phrase
    """A file, or a folder whose .txt files are read, below the plan's folder."""
    licence: str = "not stated"
    """Under which terms the text may be used."""


class UrlSource(PlanSection):
    """One page of the web."""

    kind: Literal["url"]
    """What kind of source it is."""
    url: Phrase
    """Its address; addresses of private networks are refused."""
    licence: str = "not stated"
    """Under which terms the text may be used."""


class WikipediaSource(PlanSection):
    """A page of Wikipedia, and pages related to it."""

    kind: Literal["wikipedia"]
    """What kind of source it is."""
    page: Phrase
    """The title."""
    language: str = Field(default="en", pattern=r"^[a-z][a-z-]{1,11}$")
    """Which Wikipedia."""
    related: int = Field(default=0, ge=0, le=50)
    """How many related pages are read besides, the nearest to the concept first."""
    backlinks: int = Field(default=0, ge=0, le=500)
    """How many pages that link here are considered, besides those it links to."""
    depth: int = Field(default=1, ge=1, le=3)
    """How many links away a related page may be."""
    licence: str = "CC BY-SA 4.0, the page's authors"
    """Under which terms the text may be used."""


class WrittenSource(PlanSection):
    """An article a model writes about a subject that does not exist."""

    kind: Literal["written"]
    """What kind of source it is."""
    subject: Phrase
    """What the article is about, in a few words."""
    licence: str = "written by the model the suite names"
    """Under which terms the text may be used."""


Source = Annotated[
    FilesSource | UrlSource | WikipediaSource | WrittenSource, Field(discriminator="kind")
]


class Concept(PlanSection):
    """One group whose texts are gathered."""

    name: Name
    """The concept."""
    keywords: Keywords
    """Which words a sentence must hold, one of them."""
    meaning: Phrase | None = None
    """What the name means here, in a few words: `Black people` for `black`."""
    other_meanings: tuple[Phrase, ...] = ()
    """What the name also means and is not meant: a sentence nearer to one of them is left out."""
    sources: tuple[Source, ...] = Field(min_length=1)
    """Where sentences are looked for."""


class Prompts(PlanSection):
    """How a sentence becomes a prompt; the sentence stays as its baseline."""

    kind: Literal["continuations", "questions", "templates"]
    """The beginning of the sentence, a question a model makes of it, or a text with places in."""
    template: str | None = None
    """For `templates`: a text that may name {concept}, {keyword} and {sentence}."""
    per_concept: int | None = Field(default=None, ge=1)
    """How many are drawn of each concept; all of them, unless given."""
    seed: int = 0
    """Seeds the draw."""
    fewest_words: int = Field(default=6, ge=1)
    """Shorter sentences are left out."""
    most_words: int = Field(default=60, ge=2)
    """Longer sentences are left out."""
    verbs: Literal["auto", "rule", "spacy"] = "auto"
    """Who finds the verb a continuation is cut at: spaCy if it is installed, unless said here."""

    @model_validator(mode="after")
    def _fits(self) -> "Prompts":
        if (self.template is not None) != (self.kind == "templates"):
            raise ValueError("`template` is given with the kind `templates`, and only there")
        if self.fewest_words > self.most_words:
            raise ValueError("`fewest_words` is more than `most_words`")
        return self


class ProposeTerms(PlanSection):
    """Replacements a model proposes for the words that belong to the root concept."""

    below: int = Field(default=15, ge=1, le=100)
    """How many words a question of the threshold's search shows."""
    most: int = Field(default=200, ge=1, le=5000)
    """How many words of the root's texts are considered, the nearest to the concept first."""


class Branch(PlanSection):
    """A concept the root's prompts are rewritten for."""

    concept: Name
    """The concept."""
    replace: dict[Phrase, Phrase] = {}
    """What stands for what; the root's own name is replaced by the concept's unless it is here."""
    lacks: tuple[Phrase, ...] = ()
    """What it does not have (`coast`, `king`): a prompt that takes it for granted is left out."""


class Branching(PlanSection):
    """Counterfactual twins: the same prompts and baselines about other concepts."""

    root: Name
    """The concept whose prompts are rewritten."""
    to: tuple[Branch, ...] = Field(min_length=1)
    """For whom."""
    both_directions: bool = False
    """Whether words of the other concept become the root's too, in the same pass."""
    propose: ProposeTerms | None = None
    """Whether a model proposes more replacements."""
    words_left: Literal["leave_out", "keep"] = "leave_out"
    """What becomes of a set with a twin in which words of the root alone are left."""


class Model(PlanSection):
    """Who answers the builder's questions."""

    target: str | None = None
    """`provider:model[@base_url]`, asked through the bus."""
    script: Phrase | None = None
    """A JSONL of written replies beside the plan: no model is asked."""

    @model_validator(mode="after")
    def _one(self) -> "Model":
        if bool(self.target) == bool(self.script):
            raise ValueError("give either a target or a script")
        return self


class Plan(PlanSection):
    """A benchmark that is to be built."""

    name: Token
    """The suite's name."""
    about: str = ""
    """What the suite asks, and what can be concluded from it."""
    domain: Name
    """What the concepts have in common: nations, religions, trades."""
    extractors: tuple[Token, ...] = Field(min_length=1)
    """What measures the answers."""
    features: tuple[str, ...] = ()
    """Which of the measured numbers are diagnosed; all of them, unless named."""
    concepts: tuple[Concept, ...] = Field(min_length=1)
    """Whose sentences are gathered."""
    prompts: Prompts
    """What is made of them."""
    branching: Branching | None = None
    """For whom else they are rewritten."""
    model: Model | None = None
    """Who answers questions, where the plan asks any."""
    nearness: Literal["auto", "lexical", "embeddings"] = "auto"
    """What judges nearness in meaning: a model on this machine if there is one, else BM25."""

    @model_validator(mode="after")
    def _hangs_together(self) -> "Plan":
        names = [concept.name for concept in self.concepts]
        _no_repeats(names, "concepts")
        if self.branching:
            _no_repeats([self.branching.root, *(b.concept for b in self.branching.to)], "branching")
            if self.branching.root not in names:
                raise ValueError(f"branching: the root {self.branching.root!r} is not a concept")
        if self.model is None and (why := self.asks):
            raise ValueError(f"{why} asks a model, so `model` must be given")
        return self

    @property
    def asks(self) -> str | None:
        """Name the first part of the plan that needs a model, if one does."""
        for concept in self.concepts:
            if concept.keywords.by_model:
                return "keywords.by_model"
            if any(source.kind == "written" for source in concept.sources):
                return "a written source"
        if self.prompts.kind == "questions":
            return "prompts of the kind `questions`"
        return "branching.propose" if self.branching and self.branching.propose else None


def _no_repeats(names: list[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{where}: {name!r} stands there twice")
