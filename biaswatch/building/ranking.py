"""Nearness in meaning: what a ranking offers, and what is chosen by it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from biaswatch.building.build_data import BuildLog, SentenceMatch
from biaswatch.building.plan import Concept
from biaswatch.building.words import APOSTROPHES, STOP, contains_word, tokens

OFF_TOPIC = 0.15
"""A sentence less near to its concept and its source than this is about something else."""
ONE_SENSE = 0.79
"""A name this near to itself with its domain beside it has one sense; below, it has several."""
SENSE_MARGIN = 0.02
"""How much nearer a sentence may be to the bare word than to the word with its domain."""


class Ranking(Protocol):
    """Says how near texts are to a topic."""

    name: str
    """What it ranks by, as the suite and its report say it."""
    knows_meaning: bool
    """Whether texts without a word in common can be near."""
    least: float
    """A word of a source less near than this is no keyword."""

    def nearness(
        self, topic: str, texts: Sequence[str], context: Sequence[str] = ()
    ) -> list[float]:
        """Return a number for each text; a larger one is nearer.

        `context` are the sentences in which the texts stand: they tell what else the topic is.
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
    """Return the words of texts that may mean something, by how often they stand there."""
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
    """Return what the concept means: the plan's words for it, or its name."""
    return concept.meaning or concept.name


def on_topic(
    hits: Sequence[SentenceMatch],
    concept: Concept,
    domain: str,
    ranking: Ranking,
    context: Sequence[str],
    build_log: BuildLog,
) -> list[SentenceMatch]:
    """Leave out the sentences that hold a keyword and are about something else, with the reason."""
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
    plain = ranking.nearness(topic, texts)
    others = {other: ranking.nearness(other, texts) for other in concept.other_meanings}
    reasons: list[str | None] = [None] * len(texts)
    if ranking.knows_meaning:
        reasons = _by_meaning(texts, concept, domain, ranking, context)
    for n in range(len(texts)):
        nearer = [other for other, near in others.items() if near[n] > plain[n]]
        if nearer:
            reasons[n] = f"nearer to {nearer[0]!r} than to {topic!r}"
    return reasons


def _by_meaning(
    texts: Sequence[str], concept: Concept, domain: str, ranking: Ranking, context: Sequence[str]
) -> list[str | None]:
    """Find sentences far from concept and source, and those that use its name in another sense."""
    topic = topic_of(concept)
    whole = ranking.nearness(topic, texts, context)
    sense = concept.meaning or f"{concept.name}, {domain}"
    common = concept.name.islower()  # a proper name has one sense in its own page
    several = common and ranking.nearness(concept.name, [sense])[0] < ONE_SENSE
    bare = ranking.nearness(concept.name, texts)
    meant = ranking.nearness(sense, texts)
    found: list[str | None] = []
    for n, text in enumerate(texts):
        # A name of one sense is on topic wherever it stands.
        named = contains_word(text, concept.name)
        if several and bare[n] - meant[n] > SENSE_MARGIN:
            found.append(f"another sense of {concept.name!r} than {sense!r}")
        elif whole[n] < OFF_TOPIC and (several or not named):
            found.append("about something else than its concept and source")
        else:
            found.append(None)
    return found
