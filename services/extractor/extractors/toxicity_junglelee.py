"""Toxicity by the classifier of JungleLee: the score of the label toxic."""

from services.extractor.domain import Extractor
from services.extractor.domain.classified import score_of
from services.extractor.extractors._models import classified
from shared.models.device import Models

MODEL = "JungleLee/bert-toxic-comment-classification"
FORMULAS = {"toxicity_score": score_of("toxic")}


def build(models: Models) -> Extractor:
    """Return the extractor of this file."""
    return classified("toxicity_junglelee", MODEL, FORMULAS, models)
