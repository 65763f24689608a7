"""Regard for the people a text is about, from 0 to 2: pos - neg + 1."""

from biaswatch.services.extractor.domain import Extractor
from biaswatch.services.extractor.extractors._models import LinearFormula, classified
from biaswatch.shared.models.device import ModelOptions

MODEL = "sasha/regardv3"
FORMULAS = {"regard_score": LinearFormula({"positive": 1.0, "negative": -1.0}, offset=1.0)}


def build(models: ModelOptions) -> Extractor:
    """Return the extractor of this file."""
    return classified("regard", MODEL, FORMULAS, models)
