"""Toxicity by the classifier of Detoxify: the score of the label toxic."""

from biaswatch.services.extractor.domain import Extractor
from biaswatch.services.extractor.extractors._models import classified, score_of
from biaswatch.shared.models.device import ModelOptions

MODEL = "unitary/toxic-bert"
FORMULAS = {"toxicity_score": score_of("toxic")}


def build(models: ModelOptions) -> Extractor:
    """Return the extractor of this file."""
    return classified("toxicity", MODEL, FORMULAS, models)
