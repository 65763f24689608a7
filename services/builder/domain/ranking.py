"""Ranking words by nearness to a concept; embeddings can take this place, letters do by default."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Protocol

from services.builder.domain.words import STOP, tokens


class Ranking(Protocol):
    """Says how near words are to a concept."""

    name: str

    def nearness(self, concept: str, words: Sequence[str]) -> list[float]:
        """Return a number for each word; a larger one is nearer."""


class LexicalRanking:
    """Nearness by shared groups of three letters: a stand-in that knows no meanings."""

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
    return Counter(padded[place : place + 3] for place in range(len(padded) - 2))


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    shared = sum(count * b[group] for group, count in a.items())
    size = sqrt(sum(n * n for n in a.values())) * sqrt(sum(n * n for n in b.values()))
    return shared / size if size else 0.0
