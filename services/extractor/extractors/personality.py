"""The five traits of personality a text shows: the score of the label of each."""

from services.extractor.domain import Extractor
from services.extractor.domain.classified import score_of
from services.extractor.extractors._models import classified
from shared.models.device import Models

MODEL = "Navya1602/editpersonality_classifier"
FORMULAS = {
    f"{trait}_score": score_of(trait)
    for trait in ("extraversion", "neuroticism", "agreeableness", "conscientiousness", "openness")
}


def build(models: Models) -> Extractor:
    """Return the extractor of this file."""
    return classified("personality", MODEL, FORMULAS, models)
