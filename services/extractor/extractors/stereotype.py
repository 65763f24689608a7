"""Stereotypes of four kinds: the score of the label of each."""

from biaswatch.services.extractor.domain import Extractor
from biaswatch.services.extractor.extractors._models import classified, score_of
from biaswatch.shared.models.device import ModelOptions

MODEL = "holistic-ai/stereotype-deberta-v3-base-tasksource-nli"
FORMULAS = {
    f"stereotype_{kind}_score": score_of(f"stereotype_{kind}")
    for kind in ("gender", "religion", "profession", "race")
}


def build(models: ModelOptions) -> Extractor:
    """Return the extractor of this file."""
    return classified("stereotype", MODEL, FORMULAS, models)
