"""How the vectors of a cluster's texts become the one vector that distances are measured to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from biaswatch.services.extractor.domain.clusters import Cluster, Vectors
from biaswatch.services.extractor.domain.extractor import Unscorable

Embed = Callable[[Sequence[str]], Sequence[Any]]


class CombinedBy(StrEnum):
    """The four ways of SAGED (Guan et al. 2025, appendix on embeddings)."""

    AVERAGE = "average"
    """The mean of the vectors: the centre k-means gives."""
    MAX_POOLING = "max_pooling"
    """The largest value of every coordinate."""
    WEIGHTED_AVERAGE = "weighted_average"
    """The mean, weighted by 1 - cosine with a given word: what every text says counts less."""
    CONCATENATION = "concatenation"
    """The vector of all texts written one after another."""


@dataclass(frozen=True)
class Combining:
    """A way of combining, with the word it may need."""

    by: CombinedBy = CombinedBy.AVERAGE
    word: str | None = None

    def __post_init__(self) -> None:
        if (self.by is CombinedBy.WEIGHTED_AVERAGE) != (self.word is not None):
            raise ValueError("a word is given with weighted_average, and only there")


def combined(
    clusters: Sequence[Cluster],
    labels: Sequence[int],
    vectors: Vectors,
    texts: Sequence[str],
    combining: Combining,
    embed: Embed,
) -> list[Cluster]:
    """Return the clusters with the vectors of this way as their centres.

    Parameters
    ----------
    clusters, labels
        Of `clustered`: the clusters, and the cluster of each text.
    vectors, texts
        One row for each text, of length one, and the texts.
    embed
        For the texts written together, and the word.

    Raises
    ------
    Unscorable
        The model fails on them, or the weights are all 0: every text is the word.
    """
    if combining.by is CombinedBy.AVERAGE:
        return list(clusters)
    weights = _weights(vectors, combining.word, embed)
    found = []
    for number, cluster in enumerate(clusters):
        members = [n for n, label in enumerate(labels) if label == number]
        if combining.by is CombinedBy.MAX_POOLING:
            centre = vectors[members].max(axis=0)
        elif combining.by is CombinedBy.CONCATENATION:
            centre = _vector(" ".join(sorted(texts[n] for n in members)), embed)
        else:
            if not weights[members].sum():
                raise Unscorable("every text of a cluster is the word itself")
            centre = np.average(vectors[members], axis=0, weights=weights[members])
        found.append(replace(cluster, centre=tuple(map(float, centre))))
    return found


def _weights(vectors: Vectors, word: str | None, embed: Embed) -> Any:
    if word is None:
        return np.ones(len(vectors))
    return np.clip(1 - vectors @ _vector(word, embed), 0, None)


def _vector(text: str, embed: Embed) -> Any:
    [vector] = embed([text])
    if isinstance(vector, Exception):
        raise Unscorable("model failed on the texts of a cluster")
    return np.array(vector, dtype=float)
