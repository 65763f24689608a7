"""Keywords of a concept, and proposed replacements for words specific to it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from biaswatch.building.build_data import BuildLog, Documents, PromptItem
from biaswatch.building.model_questions import (
    LanguageModel,
    ModelQuestion,
    keyword_question,
    keywords_in,
    term_pairs_in,
    yes_or_no,
)
from biaswatch.building.plan import AskForKeywords, Branching, Concept, ProposeTerms
from biaswatch.building.ranking import Ranking, nearest, topic_of, words_of
from biaswatch.building.words import contains_word


@dataclass(frozen=True)
class FindKeywords:
    """Collects keywords from all declared ways; adds the concept's name if none is by hand."""

    language_model: LanguageModel
    ranking: Ranking
    domain: str
    build_log: BuildLog

    async def __call__(
        self, concept: Concept, documents: Documents, context: Sequence[str]
    ) -> list[str]:
        """Return the keywords, handwritten ones first; `context` is the sources' sentences."""
        ways, topic, least = concept.keywords, topic_of(concept), self.ranking.least
        keywords = [*ways.by_hand]
        if ways.by_model:
            proposed = await self._ask_model(concept.name, ways.by_model)
            keywords += nearest(self.ranking, topic, proposed, ways.by_model.most, context)
        if ways.by_ranking:
            # Only words of sentences: headings and lists have words that no prompt can contain.
            words, most = words_of(context), ways.by_ranking.most
            keywords += nearest(self.ranking, topic, words, most, context, least=least)
        if ways.by_links:
            titles = {title for document in documents for title in document.links}
            if ways.by_links.names_only:
                titles = {title for title in titles if _looks_like_a_name(title)}
            most = ways.by_links.most
            keywords += nearest(self.ranking, topic, titles, most, context, least=least)
        if not ways.by_hand:
            keywords.append(concept.name)
        return list(dict.fromkeys(keywords))

    async def _ask_model(self, concept: str, ways: AskForKeywords) -> list[str]:
        questions = []
        for n in range(ways.rounds):
            turn, at = divmod(n, len(ways.inquiries))
            inquiry = ways.inquiries[at]
            questions.append(keyword_question(concept, self.domain, inquiry, ways.each, turn))
        replies = await self.language_model.ask(questions)
        terms: list[str] = []
        for question, reply in zip(questions, replies, strict=True):
            parsed = keywords_in(reply.text or "")
            if not parsed.terms:
                reason = reply.reason or parsed.problem or "the reply holds no list of terms"
                self.build_log.leave_out("keywords", question.about, reason)
            for sentence in parsed.no_terms:
                self.build_log.leave_out("keywords", sentence, "a sentence of the model, no term")
            terms += parsed.terms
        return terms


def _looks_like_a_name(title: str) -> bool:
    """Tell whether most words of a title are capitalised."""
    words = [word for word in title.split("(")[0].split() if len(word) > 3]
    return bool(words) and all(word[0].isupper() for word in words)


class Unclear(Exception):  # noqa: N818 - the search ends, and is recorded as ended
    """A reply during the threshold search is neither yes nor no."""


@dataclass(frozen=True)
class FindReplacements:
    """Finds words specific to the root and asks for their counterparts."""

    language_model: LanguageModel
    ranking: Ranking
    build_log: BuildLog

    async def __call__(
        self, branching: Branching, items: Sequence[PromptItem]
    ) -> dict[str, dict[str, str]]:
        """Return proposals by concept; none if the model's replies are unclear."""
        if branching.propose is None:
            return {}
        try:
            words = await self._own_words(branching.root, branching.propose, items)
        except Unclear as unclear:
            self.build_log.leave_out("threshold", branching.root, str(unclear))
            return {}
        return {
            branch.concept: await self._counterparts(branching.root, branch.concept, words)
            for branch in branching.to
        }

    async def _own_words(
        self, root: str, propose: ProposeTerms, items: Sequence[PromptItem]
    ) -> list[str]:
        """Find the words specific to the root by bisection over their similarity to it."""
        texts = [text for item in items for text in (item.prompt, item.baseline)]
        words = [word for word in words_of(texts) if not contains_word(root, word)]
        ranked = nearest(self.ranking, root, words, propose.most, texts)

        async def associated(candidates: Sequence[str]) -> bool:
            text = (
                f"Does any of these words belong to {root} in particular rather than to any other"
                f" of its kind: {', '.join(candidates)}? Reply with yes or no."
            )
            question = ModelQuestion("belongs", " ".join(candidates), text)
            [reply] = await self.language_model.ask([question])
            answer = yes_or_no(reply.text or "")
            if answer is None:
                raise Unclear(reply.reason or "a reply is neither yes nor no")
            return answer

        return await words_above(ranked, associated, propose.below)

    async def _counterparts(self, root: str, concept: str, words: Sequence[str]) -> dict[str, str]:
        if not words:
            return {}
        text = (
            f"These words belong to {root}: {', '.join(words)}. For each that has a counterpart"
            f" for {concept}, give it. Reply with one JSON object from word to counterpart."
        )
        question = ModelQuestion("counterparts", f"{root}/{concept}", text)
        [reply] = await self.language_model.ask([question])
        known = {word.lower() for word in words}
        # Only words in the question are replaced, even if the reply lists others.
        pairs = {o: n for o, n in term_pairs_in(reply.text or "").items() if o.lower() in known}
        if not pairs:
            reason = reply.reason or "no pairs in the reply"
            self.build_log.leave_out("counterparts", concept, reason)
        return {old: new for old, new in pairs.items() if old != new}


Associated = Callable[[Sequence[str]], Awaitable[bool]]
"""Asks if any of these words is specific to the concept."""


async def words_above(ranked: Sequence[str], associated: Associated, shown: int) -> list[str]:
    """Return the words down to the threshold of association, nearest first.

    Each question halves the range of the threshold, so there are at most log2(n) + 1. A question
    shows the `shown` nearest words below the middle of the range.
    """
    least, most = 0, len(ranked)
    while least < most:
        middle = (least + most) // 2
        if await associated(ranked[middle : middle + shown]):
            least = middle + 1
        else:
            most = middle
    return list(ranked[:least])
