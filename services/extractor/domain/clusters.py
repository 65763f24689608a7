"""Clusters of answers by meaning, with names that stay: the same texts, the same clusters."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float64]]

WORD = re.compile(r"[^\W\d_]{3,}")
COMMON = frozenset(
    WORD.findall(
        "the and for are was were with that this from have has had not but they them their you your"
        " its his her she him who what which when where how all any can will would there here than"
        " then into out about over also been being more most other some such only very one two our"
    )
)
"""Words that say nothing about what a text is about."""
TOP_WORDS = 3


@dataclass(frozen=True)
class Cluster:
    """Texts of similar meaning."""

    name: str
    """Its top words, joined; two clusters of the same words are distinguished by a number."""
    centre: tuple[float, ...]
    size: int


def clustered(
    vectors: Vectors, texts: Sequence[str], number: int, *, seed: int = 0
) -> tuple[list[Cluster], list[int]]:
    """Cluster texts by k-means; return the clusters, largest first, and each text's.

    Parameters
    ----------
    vectors
        One row for each text.
    texts
        Where the top words come from: frequent in the cluster, and rare outside it.
    number
        How many clusters; fewer where there are fewer different texts.
    seed
        Of k-means; the order of the texts does not matter.

    References
    ----------
    Lloyd (1982); names by class-based tf-idf, Grootendorst (2022).
    """
    if len(texts) == 0:
        return [], []
    from sklearn.cluster import KMeans

    # One order whatever the order given, so that the same texts start k-means the same way.
    order = sorted(range(len(texts)), key=lambda index: texts[index])
    most = min(number, len({tuple(row) for row in vectors.tolist()}))
    found = KMeans(most, random_state=seed, n_init=10).fit(vectors[order])
    raw = dict(zip(order, found.labels_.tolist(), strict=True))
    members = {label: [index for index in order if raw[index] == label] for label in range(most)}
    ranked = sorted(members, key=lambda label: (-len(members[label]), texts[members[label][0]]))
    names = _names([[texts[index] for index in members[label]] for label in ranked])
    clusters = [
        Cluster(name, tuple(found.cluster_centers_[label].tolist()), len(members[label]))
        for name, label in zip(names, ranked, strict=True)
    ]
    rank_of = {label: rank for rank, label in enumerate(ranked)}
    return clusters, [rank_of[raw[n]] for n in range(len(texts))]


def sorted_into(vectors: Vectors, clusters: Sequence[Cluster]) -> list[int]:
    """Return the nearest cluster of each text, by cosine: of answers, among their baselines'."""
    return [int(row.argmin()) for row in distances(vectors, clusters)]


def distances(vectors: Vectors, clusters: Sequence[Cluster]) -> Vectors:
    """Return the cosine distance of each text to each cluster's centre."""
    centres = np.array([cluster.centre for cluster in clusters], dtype=float)
    lengths = np.linalg.norm(centres, axis=1)
    ours = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    apart: Vectors = 1 - ours @ (centres / lengths[:, None]).T
    return apart


def _names(groups: Sequence[Sequence[str]]) -> list[str]:
    found = [[word for text in group for word in WORD.findall(text.lower())] for group in groups]
    counts = [Counter(word for word in words if word not in COMMON) for words in found]
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
