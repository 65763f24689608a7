"""Sentiment by the VADER lexicon for English (Hutto and Gilbert 2014)."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Any

from biaswatch.services.extractor.domain import Extractor, Reading, Unscorable
from biaswatch.shared.parsing.english_texts import NOT_ENGLISH, is_foreign
from biaswatch.shared.parsing.texts import with_plain_quotes

MAX_WORDS = 20_000
"""Longer texts are not scored; VADER's sum of words saturates long before."""
WORDS_BEFORE, WORDS_AFTER = 3, 2
"""Context of a word in the rules of VADER."""
INTENSE = {"so", "this"}


class VaderExtractor:
    """Scores sentiment from -1 to 1, or the shares of negative and positive words."""

    version = "3.3.2.2"
    instrument = "the VADER lexicon, English; no model"

    def __init__(self, analyzer: Any, name: str, scores: Mapping[str, str]) -> None:
        self.name = name
        self.features = tuple(scores)
        self._scores = scores
        self._analyzer = analyzer
        # VADER replaces an emoji with its description.
        self._emoji_words = {emoji: len(text.split()) for emoji, text in analyzer.emojis.items()}

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Return VADER's scores, by feature."""
        text = with_plain_quotes(reading.text)  # as in the lexicon
        words = text.split()
        if not words:
            raise Unscorable("empty text")
        emojis = sum(self._emoji_words.get(character, 0) for character in text)
        if len(words) + emojis > MAX_WORDS:
            raise Unscorable(f"over {MAX_WORDS} words")
        if is_foreign(text):
            raise Unscorable(NOT_ENGLISH)
        scores = self._analyzer.polarity_scores(text)
        return {feature: float(scores[name]) for feature, name in self._scores.items()}


SCORES: Mapping[str, Mapping[str, str]] = {
    "vader": {"sentiment": "compound"},
    "vader_shares": {"negative": "neg", "positive": "pos"},
}
"""VADER's scores by extractor and feature."""


def build(name: str = "vader") -> Extractor:
    """Return the extractor; import vaderSentiment, which is optional."""
    from vaderSentiment import vaderSentiment

    return VaderExtractor(linear_analyzer(vaderSentiment)(), name, SCORES[name])


def linear_analyzer(vader: Any) -> type[Any]:
    """Return VADER's analyzer with the same scores in linear time.

    The original scans the whole text for each word with a sentiment.
    """
    original: type[Any] = vader.SentimentIntensityAnalyzer
    negations = frozenset(vader.NEGATE)
    phrases = (*vader.SPECIAL_CASES, *(phrase for phrase in vader.BOOSTER_DICT if " " in phrase))
    of_phrases = frozenset(word for phrase in phrases for word in phrase.split())

    def negation_check(valence: float, words: Sequence[str], back: int, at: int) -> float:
        before = [words[at - n].lower() if n <= at else "" for n in range(1, WORDS_BEFORE + 1)]
        if _intensified(before, back):
            return valence * 1.25
        nearest = before[back]
        if back and nearest == "without" and "doubt" in before[:back]:
            return valence
        negated = nearest in negations or "n't" in nearest
        return valence * vader.N_SCALAR if negated else valence

    def special_idioms_check(valence: float, words: Sequence[str], at: int) -> float:
        first = max(0, at - WORDS_BEFORE)
        near = words[first : at + WORDS_AFTER + 1]
        if not any(word.lower() in of_phrases for word in near):
            return valence
        return float(original._special_idioms_check(valence, near, at - first))  # noqa: SLF001

    def but_check(words: Sequence[str], sentiments: list[float]) -> list[float]:
        but = next((n for n, word in enumerate(words) if word.lower() == "but"), None)
        return sentiments if but is None else contrasted(sentiments, but)

    rules = {
        "_negation_check": staticmethod(negation_check),
        "_special_idioms_check": staticmethod(special_idioms_check),
        "_but_check": staticmethod(but_check),
    }
    return type("LinearAnalyzer", (original,), rules)


def _intensified(before: Sequence[str], back: int) -> bool:
    """Return whether "never so" or similar precedes a word, by VADER's rule for `back`."""
    first, second, third = before
    if back == 1:
        return second == "never" and first in INTENSE
    return back == 2 and ((third == "never" and second in INTENSE) or first in INTENSE)


def contrasted(sentiments: Sequence[float], but: int) -> list[float]:
    """Return the sentiments, halved before the word `but` and raised by half after it.

    Like VADER, this changes for every word the first position that has the value of the word at
    that time, even if it is an earlier one.
    """
    changed = list(sentiments)
    places: defaultdict[float, list[int]] = defaultdict(list)
    for number, value in enumerate(sentiments):
        heappush(places[value], number)
        first = places[value][0]
        if value and first != but:
            heappop(places[value])
            changed[first] = value * (0.5 if first < but else 1.5)
            heappush(places[changed[first]], first)
    return changed


EXTRACTORS: Mapping[str, Callable[..., Extractor]] = {name: partial(build, name) for name in SCORES}
