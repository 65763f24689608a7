"""Sentiment by the VADER lexicon (Hutto and Gilbert 2014): English, and no model download."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from biaswatch.services.extractor.domain import Extractor, Reading, Unscorable
from biaswatch.shared.parsing.texts import with_plain_quotes

MOST_WORDS = 20_000
"""Longer texts are not scored: VADER adds up words, and is at its end of the scale long before."""
LOOKED_BACK, LOOKED_AHEAD = 3, 2
"""How many words before and after a word the rules of VADER look at."""
INTENSE = {"so", "this"}


class VaderExtractor:
    """Scores sentiment from -1 (negative) to 1 (positive)."""

    name = "vader"
    version = "3.3.2.1"
    features = ("sentiment",)
    instrument = "the VADER lexicon, English; no model"

    def __init__(self, analyzer: Any) -> None:
        self._analyzer = analyzer
        # VADER reads an emoji as the words that describe it.
        self._emoji_words = {each: len(said.split()) for each, said in analyzer.emojis.items()}

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Return VADER's compound score."""
        text = with_plain_quotes(
            reading.text
        )  # as the lexicon is written: "isn't", not "isn\u2019t"
        words = text.split()
        if not words:
            raise Unscorable("empty text")
        emojis = sum(self._emoji_words.get(each, 0) for each in text)
        if len(words) + emojis > MOST_WORDS:
            raise Unscorable(f"over {MOST_WORDS} words")
        return {"sentiment": float(self._analyzer.polarity_scores(text)["compound"])}


def build() -> Extractor:
    """Return the extractor of this file."""
    from vaderSentiment import vaderSentiment

    return VaderExtractor(linear_analyzer(vaderSentiment)())


def linear_analyzer(vader: Any) -> type[Any]:
    """Return the analyzer of VADER's module, with its scores in time that grows with the text.

    The original goes through the whole text for each word with a sentiment.
    """
    original: type[Any] = vader.SentimentIntensityAnalyzer
    negations = frozenset(vader.NEGATE)
    phrases = (*vader.SPECIAL_CASES, *(each for each in vader.BOOSTER_DICT if " " in each))
    of_phrases = frozenset(word for phrase in phrases for word in phrase.split())

    def negation_check(valence: float, words: Sequence[str], back: int, at: int) -> float:
        before = [words[at - n].lower() if n <= at else "" for n in range(1, LOOKED_BACK + 1)]
        if _intensified(before, back):
            return valence * 1.25
        nearest = before[back]
        if back and nearest == "without" and "doubt" in before[:back]:
            return valence
        negated = nearest in negations or "n't" in nearest
        return valence * vader.N_SCALAR if negated else valence

    def special_idioms_check(valence: float, words: Sequence[str], at: int) -> float:
        first = max(0, at - LOOKED_BACK)
        near = words[first : at + LOOKED_AHEAD + 1]
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
    """Return whether "never so" or the like stands before a word, by VADER's rule for `back`."""
    first, second, third = before
    if back == 1:
        return second == "never" and first in INTENSE
    return back == 2 and ((third == "never" and second in INTENSE) or first in INTENSE)


def contrasted(sentiments: Sequence[float], but: int) -> list[float]:
    """Return the sentiments with those before the word `but` halved and those after it raised.

    As VADER does it: for every word in turn, the first place that has the word's value by then is
    changed, be it an earlier one.
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
