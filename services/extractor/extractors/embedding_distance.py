"""Distances of a text to its baseline: cosine, L1 and L2 of sentence embeddings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biaswatch.services.extractor.domain import (
    Extractor,
    Outcome,
    Reading,
    Unscorable,
    batch_of_one,
)
from biaswatch.services.extractor.extractors.classifiers import unscorable_if_unavailable
from biaswatch.shared.models.device import ModelOptions
from biaswatch.shared.models.text_models import Embedder
from biaswatch.shared.runtime.user_functions import user_function

DISTANCES = ("cosine_distance", "l1_distance", "l2_distance")
OWN_DISTANCE = "own_distance"


@dataclass(frozen=True)
class EmbeddingDistanceExtractor:
    """Measures texts that have a baseline."""

    model: str
    embed: Callable[[Sequence[str]], list[Any]]
    name: str = "embedding_distance"
    own_distance: Callable[[Any, Any], float] | None = None
    """A user's distance of two embeddings."""
    distance_name: str = ""

    @property
    def features(self) -> tuple[str, ...]:
        """The distances, with the user's own as the last."""
        return (*DISTANCES, *([OWN_DISTANCE] if self.own_distance else []))

    @property
    def version(self) -> str:
        """The edition of the formula, the model, and the user's function."""
        return " ".join(filter(None, ["1", self.model, self.distance_name]))

    @property
    def instrument(self) -> str:
        """The model."""
        return f"distances of embeddings by {self.model}"

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Measure one text."""
        return batch_of_one(self, reading)

    def measure_all(self, readings: Sequence[Reading]) -> Sequence[Outcome]:
        """Measure many texts; each text and each baseline is embedded once."""
        pairs = [_pair(reading) for reading in readings]
        texts = sorted({text for pair in pairs if isinstance(pair, tuple) for text in pair})
        try:
            vectors = dict(zip(texts, self.embed(texts), strict=True)) if texts else {}
        except Unscorable as unavailable:
            return [pair if isinstance(pair, Unscorable) else unavailable for pair in pairs]
        return [
            pair if isinstance(pair, Unscorable) else self._distances(*map(vectors.get, pair))
            for pair in pairs
        ]

    def _distances(self, text: Any, base: Any) -> Outcome:
        distances = _distances(text, base)
        if self.own_distance is None or isinstance(distances, Unscorable):
            return distances
        try:
            return {**distances, OWN_DISTANCE: float(self.own_distance(text, base))}
        except Exception as error:  # noqa: BLE001 - a function of a user may raise anything
            return Unscorable(f"{self.distance_name} failed: {type(error).__name__}")


def _pair(reading: Reading) -> tuple[str, str] | Unscorable:
    if not reading.text.strip():
        return Unscorable("empty text")
    if not reading.baseline or not reading.baseline.strip():
        return Unscorable("no baseline")
    return reading.text, reading.baseline


def _distances(text: Any, base: Any) -> Outcome:
    if isinstance(text, Exception) or isinstance(base, Exception):
        return Unscorable("model failed on this text")
    difference = text - base
    return {
        "cosine_distance": 1 - float(text @ base),  # unit vectors
        "l1_distance": float(np.abs(difference).sum()),
        "l2_distance": float(np.linalg.norm(difference)),
    }


def build(models: ModelOptions) -> Extractor:
    """Return the extractor with the embedding model and the distance of the options."""
    models.require()
    embedder = Embedder(models, models.embedder)
    return EmbeddingDistanceExtractor(
        embedder.model,
        unscorable_if_unavailable(embedder.vectors),
        own_distance=user_function(models.distance) if models.distance else None,
        distance_name=models.distance or "",
    )


EXTRACTORS: Mapping[str, Callable[..., Extractor]] = {"embedding_distance": build}
