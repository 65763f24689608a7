"""Clusters of answers by meaning, reproducible for the same texts."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from biaswatch.services.extractor.domain.extractor import Unscorable

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float64]]

WORD = re.compile(r"[^\W\d_]{3,}")
COMMON = frozenset(
    WORD.findall(
        "the and for are was were with that this from have has had not but they them their you your"
        " its his her she him who what which when where how all any can will would there here than"
        " then into out about over also been being more most other some such only very one two our"
    )
)
"""Stop words for the names of clusters."""
TOP_WORDS = 3


@dataclass(frozen=True)
class Cluster:
    """Texts of similar meaning."""

    name: str
    """Its top words, joined, with a number if another cluster has the same words."""
    centre: tuple[float, ...]
    size: int


def clustered(
    vectors: Vectors, texts: Sequence[str], number: int, *, seed: int = 0
) -> tuple[list[Cluster], list[int]]:
    """Cluster texts by k-means; return the clusters, largest first, and the label of each text.

    Parameters
    ----------
    vectors
        One row for each text.
    texts
        Source of the top words, which are frequent in the cluster and rare outside it.
    number
        Number of clusters; fewer if there are fewer distinct texts.
    seed
        Seed of k-means; the order of the texts does not matter.

    References
    ----------
    Lloyd (1982); names by class-based tf-idf, Grootendorst (2022).
    """
    if len(texts) == 0:
        return [], []
    from sklearn.cluster import KMeans

    # Sorted, so that k-means starts the same way for any order of the same texts.
    order = sorted(range(len(texts)), key=lambda index: texts[index])
    number = min(number, len({tuple(row) for row in vectors.tolist()}))
    model = KMeans(number, random_state=seed, n_init=10).fit(vectors[order])
    raw = dict(zip(order, model.labels_.tolist(), strict=True))
    members = {label: [index for index in order if raw[index] == label] for label in range(number)}
    ranked = sorted(members, key=lambda label: (-len(members[label]), texts[members[label][0]]))
    names = _names([[texts[index] for index in members[label]] for label in ranked])
    clusters = [
        Cluster(name, tuple(model.cluster_centers_[label].tolist()), len(members[label]))
        for name, label in zip(names, ranked, strict=True)
    ]
    rank_of = {label: rank for rank, label in enumerate(ranked)}
    return clusters, [rank_of[raw[n]] for n in range(len(texts))]


def distances(vectors: Vectors, clusters: Sequence[Cluster]) -> Vectors:
    """Return the cosine distance of each text to each cluster's centre."""
    centres = np.array([cluster.centre for cluster in clusters], dtype=float)
    lengths = np.linalg.norm(centres, axis=1)
    unit_vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine_distances: Vectors = 1 - unit_vectors @ (centres / lengths[:, None]).T
    return cosine_distances


def _names(groups: Sequence[Sequence[str]]) -> list[str]:
    counts = [
        Counter(word for text in group for word in WORD.findall(text.lower()) if word not in COMMON)
        for group in groups
    ]
    everywhere = sum(counts, Counter[str]())
    average = sum(everywhere.values()) / max(1, len(groups))
    names: list[str] = []
    for number, count in enumerate(counts):
        total = sum(count.values()) or 1
        weight = {w: n / total * np.log1p(average / everywhere[w]) for w, n in count.items()}
        top = sorted(weight, key=lambda word: (-weight[word], word))[:TOP_WORDS]
        name = "_".join(top) or "no_words"
        names.append(name if name not in names else f"{name}_{number + 1}")
    return names


Embed = Callable[[Sequence[str]], Sequence[Any]]


class CombinedBy(StrEnum):
    """The methods of SAGED for the vector of a cluster (Guan et al. 2025, appendix)."""

    AVERAGE = "average"
    """The mean of the vectors, which is the centre of k-means."""
    MAX_POOLING = "max_pooling"
    """The largest value of every coordinate."""
    WEIGHTED_AVERAGE = "weighted_average"
    """The mean, weighted by 1 - cosine with a word that all texts have in common."""
    CONCATENATION = "concatenation"
    """The vector of the concatenated texts."""


@dataclass(frozen=True)
class Combining:
    """A method of combining, with its word if it needs one."""

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
    """Return the clusters with combined vectors as their centres.

    Parameters
    ----------
    clusters, labels
        The result of `clustered`.
    vectors, texts
        The texts and their unit vectors, one row per text.
    embed
        Embeds the concatenated texts and the word.

    Raises
    ------
    Unscorable
        The model fails, or all weights are 0 because every text is the word.
    """
    if combining.by is CombinedBy.AVERAGE:
        return list(clusters)
    weights = _weights(vectors, combining.word, embed)
    result = []
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
        result.append(replace(cluster, centre=tuple(map(float, centre))))
    return result


def _weights(vectors: Vectors, word: str | None, embed: Embed) -> Any:
    if word is None:
        return np.ones(len(vectors))
    return np.clip(1 - vectors @ _vector(word, embed), 0, None)


def _vector(text: str, embed: Embed) -> Any:
    [vector] = embed([text])
    if isinstance(vector, Exception):
        raise Unscorable("model failed on the texts of a cluster")
    return np.array(vector, dtype=float)
