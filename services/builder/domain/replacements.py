"""The words that belong to a root concept, and a model's proposals of what replaces each."""

from collections.abc import Awaitable, Callable, Sequence

from services.builder.domain.build_data import BuildLog, PromptItem
from services.builder.domain.keywords import Ranking, nearest, words_of
from services.builder.domain.model_questions import (
    LanguageModel,
    ModelQuestion,
    term_pairs_in,
    yes_or_no,
)
from services.builder.domain.plan import Branching, ProposeTerms
from services.builder.domain.words import contains_word


class Unclear(Exception):  # noqa: N818 - the search ends, and is recorded as ended
    """A reply in the threshold's search says neither yes nor no."""


class FindReplacements:
    """Finds which words belong to the root, then asks for their counterparts."""

    def __init__(
        self, language_model: LanguageModel, ranking: Ranking, build_log: BuildLog
    ) -> None:
        self._language_model = language_model
        self._ranking = ranking
        self._build_log = build_log
        self.asked = 0
        """Questions put in the search for the threshold."""

    async def __call__(
        self, branching: Branching, items: Sequence[PromptItem]
    ) -> dict[str, dict[str, str]]:
        """Return proposals by concept; none where the model did not make itself clear."""
        if branching.propose is None:
            return {}
        try:
            words = await self._own_words(branching.root, branching.propose, items)
        except Unclear as unclear:
            self._build_log.leave_out("threshold", branching.root, str(unclear))
            return {}
        return {
            branch.concept: await self._counterparts(branching.root, branch.concept, words)
            for branch in branching.to
        }

    async def _own_words(
        self, root: str, propose: ProposeTerms, items: Sequence[PromptItem]
    ) -> list[str]:
        """Find the words that belong to the root, by bisection over their nearness to it."""
        texts = [text for item in items for text in (item.prompt, item.baseline)]
        words = [word for word in words_of(texts) if not contains_word(root, word)]
        ranked = nearest(self._ranking, root, words, propose.most)

        async def associated(some: Sequence[str]) -> bool:
            self.asked += 1
            text = (
                f"Does any of these words belong to {root} in particular rather than to any other"
                f" of its kind: {', '.join(some)}? Reply with yes or no."
            )
            [reply] = await self._language_model.ask(
                [ModelQuestion("belongs", " ".join(some), text)]
            )
            said = yes_or_no(reply.text or "")
            if said is None:
                raise Unclear(reply.reason or "a reply is neither yes nor no")
            return said

        return await words_above(ranked, associated, propose.below)

    async def _counterparts(self, root: str, concept: str, words: Sequence[str]) -> dict[str, str]:
        if not words:
            return {}
        text = (
            f"These words belong to {root}: {', '.join(words)}. For each that has a counterpart"
            f" for {concept}, give it. Reply with one JSON object from word to counterpart."
        )
        [reply] = await self._language_model.ask(
            [ModelQuestion("counterparts", f"{root}/{concept}", text)]
        )
        known = {word.lower() for word in words}
        # What was not asked about is not replaced, whatever the reply says.
        pairs = {o: n for o, n in term_pairs_in(reply.text or "").items() if o.lower() in known}
        if not pairs:
            self._build_log.leave_out(
                "counterparts", concept, reply.reason or "no pairs in the reply"
            )
        return {old: new for old, new in pairs.items() if old != new}


Associated = Callable[[Sequence[str]], Awaitable[bool]]
"""Whether any of these words belongs to the concept."""


async def words_above(ranked: Sequence[str], associated: Associated, shown: int) -> list[str]:
    """Return the words, nearest first, down to the point below which none belongs to the concept.

    Each question halves the range where that point may be, so there are at most log2(n) + 1 of
    them. A question shows the nearest of the words below the middle of the range.
    """
    least, most = 0, len(ranked)
    while least < most:
        middle = (least + most) // 2
        if await associated(ranked[middle : middle + shown]):
            least = middle + 1
        else:
            most = middle
    return list(ranked[:least])
