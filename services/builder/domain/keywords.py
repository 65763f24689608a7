"""Keywords of a concept: written by hand, named by a model, nearest by rank, or linked to."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Protocol

from services.builder.domain.build_data import BuildLog, Documents
from services.builder.domain.model_questions import LanguageModel, keyword_question, terms_in
from services.builder.domain.plan import Concept
from services.builder.domain.words import STOP, tokens


class Ranking(Protocol):
    """Says how near words are to a concept."""

    name: str

    def nearness(self, concept: str, words: Sequence[str]) -> list[float]:
        """Return a number for each word; a larger one is nearer."""


class LexicalRanking:
    """Nearness by shared groups of three letters: it knows no meanings."""

    name = "lexical"

    def nearness(self, concept: str, words: Sequence[str]) -> list[float]:
        """Return the cosine of the counts of letter groups."""
        mine = _trigrams(concept)
        return [_cosine(mine, _trigrams(word)) for word in words]


def nearest(ranking: Ranking, concept: str, words: Iterable[str], most: int) -> list[str]:
    """Return the nearest words, the nearest first; equal ones in the order of the alphabet."""
    distinct = sorted(set(words))
    near = dict(zip(distinct, ranking.nearness(concept, distinct), strict=True))
    return sorted(distinct, key=lambda word: (-near[word], word))[:most]


def words_of(texts: Iterable[str]) -> list[str]:
    """Return the words of texts that may mean something, by how often they stand there."""
    counted = Counter(word for text in texts for word in tokens(text))
    return [
        word
        for word, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
        if len(word) > 2 and word not in STOP and not word.isdecimal()
    ]


def _trigrams(word: str) -> Counter[str]:
    padded = f"  {word.lower()} "
    return Counter(padded[start : start + 3] for start in range(len(padded) - 2))


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    shared = sum(count * b[group] for group, count in a.items())
    size = sqrt(sum(n * n for n in a.values())) * sqrt(sum(n * n for n in b.values()))
    return shared / size if size else 0.0


class FindKeywords:
    """Unites the keywords of all ways; without any by hand, the concept's own name is one."""

    def __init__(
        self, language_model: LanguageModel, ranking: Ranking, domain: str, build_log: BuildLog
    ) -> None:
        self._language_model = language_model
        self._ranking = ranking
        self._domain = domain
        self._build_log = build_log

    async def __call__(self, concept: Concept, documents: Documents) -> list[str]:
        """Return the keywords, those written down first."""
        ways = concept.keywords
        found = [*ways.by_hand]
        if ways.by_model:
            found += nearest(
                self._ranking, concept.name, await self._asked(concept), ways.by_model.most
            )
        if ways.by_ranking:
            words = words_of(document.text for document in documents)
            found += nearest(self._ranking, concept.name, words, ways.by_ranking.most)
        if ways.by_links:
            titles = {title for document in documents for title in document.links}
            if ways.by_links.names_only:
                titles = {title for title in titles if _looks_like_a_name(title)}
            found += nearest(self._ranking, concept.name, titles, ways.by_links.most)
        if not ways.by_hand:
            found.append(concept.name)
        return list(dict.fromkeys(found))

    async def _asked(self, concept: Concept) -> Sequence[str]:
        ways = concept.keywords.by_model
        assert ways is not None  # noqa: S101 - the caller has looked
        questions = [
            keyword_question(
                concept.name,
                self._domain,
                ways.inquiries[turn % len(ways.inquiries)],
                ways.each,
                turn // len(ways.inquiries),
            )
            for turn in range(ways.rounds)
        ]
        found: list[str] = []
        for question, reply in zip(
            questions, await self._language_model.ask(questions), strict=True
        ):
            terms = terms_in(reply.text) if reply.text else []
            if not terms:
                why = reply.reason or "the reply holds no list of terms"
                self._build_log.leave_out("keywords", question.about, why)
            found += terms
        return found


def _looks_like_a_name(title: str) -> bool:
    """Tell whether most words of a title have capitals: a rule, where no tagger is."""
    words = [word for word in title.split("(")[0].split() if len(word) > 3]
    return bool(words) and all(word[0].isupper() for word in words)
