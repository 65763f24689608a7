"""Similarity of a text to its baseline: BLEU, ROUGE-L, and recommended lists."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from biaswatch.services.extractor.domain import Extractor, Reading, Unscorable
from biaswatch.shared.parsing.english_words import stemmed_words, tokens
from biaswatch.shared.stats.similarity import bleu, jaccard, prag, rouge_l, serp

MAX_CHARACTERS = 100_000
"""Longer texts are not compared."""
MAX_ITEMS = 200
_ITEM = re.compile(r"^[ \t]*(?:[-*\u2022]|\d{1,3}[.):])[ \t]+(\S.*)$", re.MULTILINE)
_MARKS = " \t.,;\"'*_`"


@dataclass(frozen=True)
class BaselineExtractor:
    """Compares a text with its baseline; either has no values without a baseline."""

    name: str
    features: tuple[str, ...]
    instrument: str
    compare: Callable[[str, str], Mapping[str, float | None]]
    version: str = "1"

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """See `Extractor.measure`."""
        if not reading.baseline or not reading.baseline.strip():
            raise Unscorable("no baseline")
        if not reading.text.strip():
            raise Unscorable("empty text")
        if len(reading.text) + len(reading.baseline) > MAX_CHARACTERS:
            raise Unscorable(f"over {MAX_CHARACTERS} characters")
        return self.compare(reading.text, reading.baseline)


def _lists(text: str, baseline: str) -> Mapping[str, float | None]:
    items, reference = items_of(text), items_of(baseline)
    return {
        "jaccard": jaccard(items, reference),
        "serp": serp(items, reference),
        "prag": prag(items, reference),
    }


def items_of(text: str) -> list[str]:
    r"""Return the items of a JSON list, or of lines with bullets or numbers, in small letters.

    >>> items_of("Try these:\n1. **Love Story**\n2. Perfect")
    ['love story', 'perfect']
    """
    try:
        items = json.loads(text)
    except ValueError:
        items = _ITEM.findall(text)
    if not isinstance(items, list) or not items:
        raise Unscorable("no list of items")
    if len(items) > MAX_ITEMS:
        raise Unscorable(f"over {MAX_ITEMS} items")
    return [" ".join(str(item).strip(_MARKS).casefold().split()) for item in items]


EXTRACTORS: Mapping[str, Extractor] = {
    extractor.name: extractor
    for extractor in (
        BaselineExtractor(
            "bleu",
            ("bleu",),
            "BLEU in both directions, the smaller one; no model",
            lambda text, base: {"bleu": bleu(tokens(text), tokens(base))},
        ),
        BaselineExtractor(
            "rouge_l",
            ("rouge_l",),
            "ROUGE-L of English stems, F measure; no model",
            lambda text, baseline: {
                "rouge_l": rouge_l(stemmed_words(text), stemmed_words(baseline))
            },
        ),
        BaselineExtractor(
            "recommendations",
            ("jaccard", "serp", "prag"),
            "items of recommended lists in common; no model",
            _lists,
        ),
    )
}
