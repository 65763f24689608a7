"""Builds a suite from a plan: sources, keywords, sentences, prompts, twins, in this order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from services.builder.domain.branching import replacements_for, twins
from services.builder.domain.build_data import BuildLog, Document, PromptItem, SentenceMatch
from services.builder.domain.continuations import VerbFinder
from services.builder.domain.keywords import FindKeywords, Ranking
from services.builder.domain.model_questions import LanguageModel
from services.builder.domain.plan import Concept, Plan, Source
from services.builder.domain.prompts import (
    continuation_prompts,
    question_prompts,
    sampled_prompts,
    template_prompts,
    within_length,
)
from services.builder.domain.quality import SuiteQuality, quality_of
from services.builder.domain.replacements import FindReplacements
from services.builder.domain.sentences import distinct_matches, sentences_by_keyword
from services.builder.domain.suite_files import Row, header_of, rows_of
from shared.errors import UsageError


class SourceReader(Protocol):
    """Reads what a plan names; every source once."""

    @property
    def notes(self) -> Sequence[str]:
        """Say what could not be read and was not needed."""

    async def read(self, source: Source, concept: str, home: Path) -> Sequence[Document]:
        """Return the documents of one source."""

    async def close(self) -> None:
        """Close the connections."""


@dataclass(frozen=True)
class BuiltSuite:
    """A finished suite, not written yet."""

    header: Mapping[str, Any]
    rows: Sequence[Row]
    quality: SuiteQuality
    build_log: BuildLog


class Build:
    """One build; it holds nothing that another build could see."""

    def __init__(
        self,
        plan: Plan,
        home: Path,
        *,
        sources: SourceReader,
        language_model: LanguageModel,
        ranking: Ranking,
        verbs: VerbFinder,
    ) -> None:
        self._plan = plan
        self._home = home
        self._sources = sources
        self._language_model = language_model
        self._ranking = ranking
        self._verbs = verbs
        self._build_log = BuildLog()

    async def __call__(self) -> BuiltSuite:
        """Return the suite.

        Raises
        ------
        UsageError
            A source cannot be read, the replacements contradict one another, or nothing is left.
        """
        try:
            return await self._built()
        finally:
            await self._sources.close()

    async def _built(self) -> BuiltSuite:
        plan = self._plan
        hits = [hit for concept in plan.concepts for hit in await self._hits(concept)]
        items = _distinct(await self._prompts(hits), self._build_log)
        items = sampled_prompts(items, plan.prompts)
        terms = await self._terms(items)
        if plan.branching:
            items = twins(items, plan.branching, terms, self._build_log)
        if not items:
            raise UsageError(f"Nothing is left of the plan {plan.name}: {self._why_nothing()}.")
        self._build_log.notes += self._sources.notes
        rows = rows_of(items, plan.domain)
        header = header_of(plan, self._how(terms), rows)
        return BuiltSuite(header, rows, quality_of(rows, terms), self._build_log)

    async def _hits(self, concept: Concept) -> list[SentenceMatch]:
        documents: list[Document] = []
        for source in concept.sources:
            documents += await self._sources.read(source, concept.name, self._home)
        find = FindKeywords(self._language_model, self._ranking, self._plan.domain, self._build_log)
        keywords = await find(concept, documents)
        found = sentences_by_keyword(concept.name, keywords, documents)
        self._build_log.hits[concept.name] = {word: len(hits) for word, hits in found.items()}
        return within_length(distinct_matches(found), self._plan.prompts, self._build_log)

    async def _prompts(self, hits: Sequence[SentenceMatch]) -> list[PromptItem]:
        prompts = self._plan.prompts
        if prompts.kind == "questions":
            return await question_prompts(hits, prompts, self._language_model, self._build_log)
        if prompts.template is not None:
            return template_prompts(hits, prompts.template)
        return continuation_prompts(hits, self._verbs, self._build_log)

    async def _terms(self, items: Sequence[PromptItem]) -> dict[str, dict[str, str]]:
        branching = self._plan.branching
        if branching is None:
            return {}
        roots = [item for item in items if item.concept == branching.root]
        propose = FindReplacements(self._language_model, self._ranking, self._build_log)
        try:
            return replacements_for(branching, await propose(branching, roots))
        except ValueError as error:
            raise UsageError(f"The plan {self._plan.name}, {error}.") from None

    def _how(self, terms: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
        """Say how the suite was made; it is part of its header."""
        plan = self._plan
        how: dict[str, Any] = {"domain": plan.domain, "prompts": plan.prompts.kind}
        how["answers_of"] = self._language_model.name
        if plan.prompts.kind == "continuations":
            how["verbs_found_by"] = self._verbs.name
        if plan.concepts and any(_ranks(concept) for concept in plan.concepts):
            how["ranked_by"] = self._ranking.name
        if plan.branching:
            how["root"] = plan.branching.root
            how["replaced"] = {concept: dict(given) for concept, given in terms.items()}
        return how

    def _why_nothing(self) -> str:
        if not any(count for words in self._build_log.hits.values() for count in words.values()):
            return "no sentence of the sources holds a keyword"
        counts = self._build_log.counts()
        return "; ".join(
            f"{step}: {count} x {why}"
            for step, some in counts.items()
            for why, count in some.items()
        )


def _ranks(concept: Concept) -> bool:
    ways = concept.keywords
    return bool(ways.by_model or ways.by_ranking or ways.by_links)


def _distinct(items: Sequence[PromptItem], build_log: BuildLog) -> list[PromptItem]:
    """Leave out a prompt that is there already about the same concept: it would be one question."""
    found: dict[tuple[str, str], PromptItem] = {}
    for item in items:
        if (item.concept, item.prompt) in found:
            build_log.leave_out("prompts", item.prompt, "the same prompt is there already")
        else:
            found[(item.concept, item.prompt)] = item
    return list(found.values())
