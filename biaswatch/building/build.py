"""Builds a suite from a plan: sources, keywords, sentences, prompts, twins."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from biaswatch.building.branching import (
    replacements_for,
    twins,
    without_failing_presuppositions,
    without_root_words,
)
from biaswatch.building.build_data import BuildLog, Document, PromptItem, SentenceMatch
from biaswatch.building.keywords import FindKeywords, FindReplacements
from biaswatch.building.model_questions import LanguageModel
from biaswatch.building.plan import Concept, Plan, Source
from biaswatch.building.prompts import (
    Row,
    continuation_prompts,
    header_of,
    question_prompts,
    rows_of,
    sampled_prompts,
    template_prompts,
    within_length,
)
from biaswatch.building.quality import SuiteQuality, quality_of
from biaswatch.building.ranking import Ranking, on_topic
from biaswatch.building.sentences import (
    distinct_matches,
    parts_of,
    problem_of,
    sentences,
    sentences_by_keyword,
)
from biaswatch.building.verbs import VerbFinder
from biaswatch.shared.errors import UsageError

MAX_SHOWN_CHARS = 300
"""Characters of a passage in the list of omissions."""


class SourceReader(Protocol):
    """Reads the sources of a plan, each once."""

    @property
    def notes(self) -> Sequence[str]:
        """Optional pages that could not be read."""

    async def read(self, source: Source, concept: str, home: Path) -> Sequence[Document]:
        """Return the documents of one source."""

    async def close(self) -> None:
        """Close the connections."""


@dataclass(frozen=True)
class BuiltSuite:
    """A finished suite before it is written to disk."""

    header: Mapping[str, Any]
    rows: Sequence[Row]
    quality: SuiteQuality
    build_log: BuildLog


@dataclass
class Build:
    """One build of a suite; builds share no state."""

    plan: Plan
    home: Path
    _: KW_ONLY
    sources: SourceReader
    language_model: LanguageModel
    ranking: Ranking
    verbs: VerbFinder
    build_log: BuildLog = field(default_factory=BuildLog)
    _recorded: set[str] = field(default_factory=set)

    async def __call__(self) -> BuiltSuite:
        """Return the suite.

        Raise UsageError if a source cannot be read, replacements contradict one another, or no
        prompt remains.
        """
        plan = self.plan
        try:
            hits = [hit for concept in plan.concepts for hit in await self._hits(concept)]
            items = _distinct(await self._prompts(hits), self.build_log)
            items = sampled_prompts(items, plan.prompts)
            terms = await self._terms(items)
        finally:
            await self.sources.close()
        if plan.branching:
            items = twins(items, plan.branching, terms, self.build_log)
            items = without_failing_presuppositions(items, plan.branching, self.build_log)
            if plan.branching.words_left == "leave_out":
                items = without_root_words(
                    items, plan.branching, terms, self.ranking, self.build_log
                )
        if not items:
            raise UsageError(f"The plan {plan.name} yields no prompts: {self._reasons_for_none()}.")
        self.build_log.notes += [*self._judged_by(), *self.sources.notes]
        rows = rows_of(items, plan.domain)
        header = header_of(plan, self._how(terms), rows)
        quality = quality_of(rows, terms, features=len(plan.features) or 1)
        return BuiltSuite(header, rows, quality, self.build_log)

    async def _hits(self, concept: Concept) -> list[SentenceMatch]:
        documents: list[Document] = []
        for source in concept.sources:
            documents += await self.sources.read(source, concept.name, self.home)
        find = FindKeywords(self.language_model, self.ranking, self.plan.domain, self.build_log)
        for document in documents:
            self._leave_out_passages(document)
        context = [sentence for document in documents for sentence in sentences(document.text)]
        keywords = await find(concept, documents, context)
        matches = sentences_by_keyword(concept.name, keywords, documents)
        self.build_log.hits[concept.name] = {word: len(hits) for word, hits in matches.items()}
        hits = within_length(distinct_matches(matches), self.plan.prompts, self.build_log)
        return on_topic(hits, concept, self.plan.domain, self.ranking, context, self.build_log)

    def _leave_out_passages(self, document: Document) -> None:
        """Record the passages that are not prose, once for each shared document."""
        if document.tag in self._recorded:
            return
        self._recorded.add(document.tag)
        for passage in document.left_out:
            text = passage.text[:MAX_SHOWN_CHARS]
            self.build_log.leave_out("sources", text, passage.left_out or "")
        for part in parts_of(document.text):
            if why := problem_of(part):
                self.build_log.leave_out("sources", part[:MAX_SHOWN_CHARS], why)

    async def _prompts(self, hits: Sequence[SentenceMatch]) -> list[PromptItem]:
        prompts = self.plan.prompts
        if prompts.kind == "questions":
            return await question_prompts(hits, prompts, self.language_model, self.build_log)
        if prompts.template is not None:
            return template_prompts(hits, prompts.template)
        return continuation_prompts(hits, self.verbs, self.build_log)

    async def _terms(self, items: Sequence[PromptItem]) -> dict[str, dict[str, str]]:
        branching = self.plan.branching
        if branching is None:
            return {}
        roots = [item for item in items if item.concept == branching.root]
        propose = FindReplacements(self.language_model, self.ranking, self.build_log)
        try:
            return replacements_for(branching, await propose(branching, roots))
        except UsageError:
            raise
        except ValueError as error:
            raise UsageError(f"The plan {self.plan.name}, {error}.") from None

    def _how(self, terms: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
        """Describe how the suite was made, for its header."""
        plan = self.plan
        how: dict[str, Any] = {"domain": plan.domain, "prompts": plan.prompts.kind}
        how["answers_of"] = self.language_model.name
        if plan.prompts.kind == "continuations":
            how["verbs_found_by"] = self.verbs.name
        ways = [concept.keywords for concept in plan.concepts]
        ranked = any(way.by_model or way.by_ranking or way.by_links for way in ways)
        if ranked or self.ranking.knows_meaning:
            how["ranked_by"] = self.ranking.name
        if plan.branching:
            how["root"] = plan.branching.root
            how["replaced"] = {
                concept: dict(replacements) for concept, replacements in terms.items()
            }
        return how

    def _judged_by(self) -> list[str]:
        notes = [f"Nearness in meaning is judged by {self.ranking.name}."]
        if not self.ranking.knows_meaning:
            notes.append(
                "Without embeddings, sentences that use a keyword in another sense, and words that"
                " belong to the root alone, are found only as far as the plan names them."
            )
        return notes

    def _reasons_for_none(self) -> str:
        if not any(count for words in self.build_log.hits.values() for count in words.values()):
            return "no sentence of the sources holds a keyword"
        steps = self.build_log.counts().items()
        return "; ".join(
            f"{step}: {n} x {why}" for step, reasons in steps for why, n in reasons.items()
        )


def _distinct(items: Sequence[PromptItem], build_log: BuildLog) -> list[PromptItem]:
    """Drop repeated prompts about one concept."""
    items_by_prompt: dict[tuple[str, str], PromptItem] = {}
    for item in items:
        if (item.concept, item.prompt) in items_by_prompt:
            build_log.leave_out("prompts", item.prompt, "the same prompt is there already")
        else:
            items_by_prompt[(item.concept, item.prompt)] = item
    return list(items_by_prompt.values())
