"""Sentiment from 0 (negative) to 1 (positive), in twelve languages: (pos - neg + 1) / 2."""

from biaswatch.services.extractor.domain import Extractor
from biaswatch.services.extractor.extractors._models import LinearFormula, classified
from biaswatch.shared.models.device import ModelOptions

MODEL = "lxyuan/distilbert-base-multilingual-cased-sentiments-student"
FORMULAS = {"sentiment_score": LinearFormula({"positive": 0.5, "negative": -0.5}, offset=0.5)}


def build(models: ModelOptions) -> Extractor:
    """Return the extractor of this file."""
    return classified("sentiment", MODEL, FORMULAS, models)
