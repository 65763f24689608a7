"""Regard for the people a text is about, from 0 to 2: pos - neg + 1."""

from services.extractor.domain import Extractor
from services.extractor.domain.classified import Linear
from services.extractor.extractors._models import classified
from shared.models.device import Models

MODEL = "sasha/regardv3"
FORMULAS = {"regard_score": Linear({"positive": 1.0, "negative": -1.0}, offset=1.0)}


def build(models: Models) -> Extractor:
    """Return the extractor of this file."""
    return classified("regard", MODEL, FORMULAS, models)
