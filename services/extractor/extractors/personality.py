"""The five traits of personality a text shows: the score of the label of each."""

from biaswatch.services.extractor.domain import Extractor
from biaswatch.services.extractor.extractors._models import classified, score_of
from biaswatch.shared.models.device import ModelOptions

MODEL = "Navya1602/editpersonality_classifier"
FORMULAS = {
    f"{trait}_score": score_of(trait)
    for trait in ("extraversion", "neuroticism", "agreeableness", "conscientiousness", "openness")
}


def build(models: ModelOptions) -> Extractor:
    """Return the extractor of this file."""
    return classified("personality", MODEL, FORMULAS, models)
