"""Plan of a benchmark: its subject, sources, prompts and twins."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from biaswatch.shared.contracts.identity import Name, Token

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]


class PlanSection(BaseModel):
    """Base of a plan's sections; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Inquiry(StrEnum):
    """Kinds of questions to a model for keywords of a concept."""

    CHARACTERISTICS = "characteristics"
    SUBCATEGORIES = "subcategories"
    SYNONYMS = "synonyms"
    PEOPLE = "people"
    ITSELF = "itself"


class AskForKeywords(PlanSection):
    """Keywords proposed by a model."""

    inquiries: tuple[Inquiry, ...] = Field(default=tuple(Inquiry), min_length=1)
    """Kinds of questions, in turn."""
    rounds: int = Field(default=5, ge=1, le=100)
    """Number of questions; they cycle through the inquiries."""
    each: int = Field(default=20, ge=1, le=200)
    """Number of keywords requested in each question."""
    most: int = Field(default=20, ge=1, le=1000)
    """Keywords kept, most similar to the concept first."""


class RankWords(PlanSection):
    """Keywords from the concept's own sources, by similarity to the concept."""

    most: int = Field(default=40, ge=1, le=1000)
    """Keywords kept."""


class FollowLinks(PlanSection):
    """Keywords from the titles that the concept's page links to."""

    most: int = Field(default=40, ge=1, le=1000)
    """Keywords kept, most similar to the concept first."""
    names_only: bool = True
    """Keep only titles that look like names of people, places or bodies."""


class Keywords(PlanSection):
    """Sources of a concept's keywords; their union is used."""

    by_hand: tuple[Phrase, ...] = ()
    """Written by hand."""
    by_model: AskForKeywords | None = None
    """Proposed by a model."""
    by_ranking: RankWords | None = None
    """Frequent words of the sources."""
    by_links: FollowLinks | None = None
    """Taken from the links of a Wikipedia page."""

    @model_validator(mode="after")
    def _some_way(self) -> "Keywords":
        if not (self.by_hand or self.by_model or self.by_ranking or self.by_links):
            raise ValueError("name a way to keywords: by_hand, by_model, by_ranking or by_links")
        return self


class FilesSource(PlanSection):
    """Files of text beside the plan."""

    kind: Literal["files"]
    """Kind of source."""
    path: Phrase
    """A .txt, .md, .html or .pdf file, or a folder of them, below the plan's folder."""
    licence: str = "not stated"
    """Licence of the text."""


class UrlSource(PlanSection):
    """One page of the web."""

    kind: Literal["url"]
    """Kind of source."""
    url: Phrase
    """Its address; addresses of private networks are refused."""
    licence: str = "not stated"
    """Licence of the text."""


class WikipediaSource(PlanSection):
    """A page of Wikipedia, and pages related to it."""

    kind: Literal["wikipedia"]
    """Kind of source."""
    page: Phrase
    """The title."""
    language: str = Field(default="en", pattern=r"^[a-z][a-z-]{1,11}$")
    """Language code of the Wikipedia."""
    related: int = Field(default=0, ge=0, le=50)
    """Number of related pages read in addition, most similar to the concept first."""
    backlinks: int = Field(default=0, ge=0, le=500)
    """Number of pages linking here that are also considered."""
    depth: int = Field(default=1, ge=1, le=3)
    """Largest distance of a related page, in links."""
    licence: str = "CC BY-SA 4.0, the page's authors"
    """Licence of the text."""


class WrittenSource(PlanSection):
    """An article that a model writes about an invented subject."""

    kind: Literal["written"]
    """Kind of source."""
    subject: Phrase
    """Subject of the article, in a few words."""
    licence: str = "written by the model the suite names"
    """Licence of the text."""


Source = Annotated[
    FilesSource | UrlSource | WikipediaSource | WrittenSource, Field(discriminator="kind")
]


class Concept(PlanSection):
    """One group and the sources of its texts."""

    name: Name
    """The concept."""
    keywords: Keywords
    """A sentence must contain one of these words."""
    meaning: Phrase | None = None
    """Meaning of the name, in a few words: `Black people` for `black`."""
    other_meanings: tuple[Phrase, ...] = ()
    """Other senses of the name; a sentence closer to one of them is dropped."""
    sources: tuple[Source, ...] = Field(min_length=1)
    """Sources of its sentences."""


class Prompts(PlanSection):
    """How sentences become prompts; each sentence is its prompt's baseline."""

    kind: Literal["continuations", "questions", "templates"]
    """Beginnings of sentences, questions written by a model, or a filled template."""
    template: str | None = None
    """For `templates`: a text with the fields {concept}, {keyword} and {sentence}."""
    per_concept: int | None = Field(default=None, ge=1)
    """Number of prompts sampled for each concept (default: all)."""
    seed: int = 0
    """Random seed of the sample."""
    fewest_words: int = Field(default=6, ge=1)
    """Least words of a sentence."""
    most_words: int = Field(default=60, ge=2)
    """Most words of a sentence."""
    verbs: Literal["auto", "rule", "spacy"] = "auto"
    """Finds the verb at which continuations are cut; `auto` uses spaCy if installed."""

    @model_validator(mode="after")
    def _fits(self) -> "Prompts":
        if (self.template is not None) != (self.kind == "templates"):
            raise ValueError("`template` is given with the kind `templates`, and only there")
        if self.fewest_words > self.most_words:
            raise ValueError("`fewest_words` is more than `most_words`")
        return self


class ProposeTerms(PlanSection):
    """Replacements that a model proposes for words specific to the root concept."""

    below: int = Field(default=15, ge=1, le=100)
    """Words shown in one question of the threshold search."""
    most: int = Field(default=200, ge=1, le=5000)
    """Words of the root's texts considered, most similar to the concept first."""


class Branch(PlanSection):
    """A concept for which the root's prompts are rewritten."""

    concept: Name
    """The concept."""
    replace: dict[Phrase, Phrase] = {}
    """Replacements of words; the root's name becomes the concept's unless listed."""
    lacks: tuple[Phrase, ...] = ()
    """Things it lacks (`coast`, `king`); prompts that presuppose one are dropped."""


class Branching(PlanSection):
    """Counterfactual twins: the same prompts and baselines about other concepts."""

    root: Name
    """The concept whose prompts are rewritten."""
    to: tuple[Branch, ...] = Field(min_length=1)
    """Concepts of the twins."""
    both_directions: bool = False
    """Also replace words of the other concept by the root's, in the same pass."""
    propose: ProposeTerms | None = None
    """Ask a model for more replacements."""
    words_left: Literal["leave_out", "keep"] = "leave_out"
    """Treatment of a set with a twin that still has words specific to the root."""


class Model(PlanSection):
    """The model that answers the builder's questions."""

    target: str | None = None
    """`provider:model[@base_url]`, asked through the bus."""
    script: Phrase | None = None
    """JSONL file with replies, beside the plan; used in place of a model."""

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
    """Description: what the suite measures and what follows from its results."""
    domain: Name
    """Common kind of the concepts: nations, religions, trades."""
    extractors: tuple[Token, ...] = Field(min_length=1)
    """Extractors that measure the answers."""
    features: tuple[str, ...] = ()
    """Features to diagnose (default: all)."""
    concepts: tuple[Concept, ...] = Field(min_length=1)
    """Concepts of the benchmark."""
    prompts: Prompts
    """How prompts are made."""
    branching: Branching | None = None
    """Counterfactual twins about other concepts."""
    model: Model | None = None
    """Model for the plan's questions, if it has any."""
    nearness: Literal["auto", "lexical", "embeddings"] = "auto"
    """Ranking by meaning: `auto` uses a local embedding model if present, else BM25."""

    @model_validator(mode="after")
    def _check_consistency(self) -> "Plan":
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
            raise ValueError(f"{where}: {name!r} is listed twice")
