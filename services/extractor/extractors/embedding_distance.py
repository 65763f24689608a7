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


@dataclass(frozen=True)
class EmbeddingDistanceExtractor:
    """Measures texts that have a baseline."""

    model: str
    embed: Callable[[Sequence[str]], list[Any]]
    name: str = "embedding_distance"
    features: tuple[str, ...] = ("cosine_distance", "l1_distance", "l2_distance")

    @property
    def version(self) -> str:
        """The edition of the formula and the model."""
        return f"1 {self.model}"

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
            pair if isinstance(pair, Unscorable) else _distances(vectors[pair[0]], vectors[pair[1]])
            for pair in pairs
        ]


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
    """Return the extractor with the default embedding model."""
    models.require()
    embedder = Embedder(models)
    return EmbeddingDistanceExtractor(embedder.model, unscorable_if_unavailable(embedder.vectors))


EXTRACTORS: Mapping[str, Callable[..., Extractor]] = {"embedding_distance": build}
