"""Sentiment by the VADER lexicon (Hutto and Gilbert 2014): English, and no model download."""

from collections.abc import Mapping
from typing import Any

from services.extractor.domain import Extractor, Reading, Unscorable


class VaderExtractor:
    """Scores sentiment from -1 (negative) to 1 (positive)."""

    name = "vader"
    version = "3.3.2"
    features = ("sentiment",)
    instrument = "the VADER lexicon, English; no model"

    def __init__(self, analyzer: Any) -> None:
        self._analyzer = analyzer

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Return VADER's compound score."""
        if not reading.text.strip():
            raise Unscorable("empty text")
        return {"sentiment": float(self._analyzer.polarity_scores(reading.text)["compound"])}


def build() -> Extractor:
    """Return the extractor of this file."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return VaderExtractor(SentimentIntensityAnalyzer())
