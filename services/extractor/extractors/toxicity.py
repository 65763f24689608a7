"""Toxicity by the classifier of Detoxify: the score of the label toxic."""

from services.extractor.domain import Extractor
from services.extractor.extractors._models import classified, score_of
from shared.models.device import ModelOptions

MODEL = "unitary/toxic-bert"
FORMULAS = {"toxicity_score": score_of("toxic")}


def build(models: ModelOptions) -> Extractor:
    """Return the extractor of this file."""
    return classified("toxicity", MODEL, FORMULAS, models)
