"""Clusters of answers by meaning, with names that stay: the same texts, the same clusters."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from services.extractor.domain import Unscorable
from shared.contracts import Ending, Response

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


Embed = Callable[[Sequence[str]], Sequence[Any]]
EVERYTHING = "all"


@dataclass(frozen=True)
class ClusterAssignment:
    """The cluster of one answer, and its distances to clusters."""

    response_id: str
    probe: str
    segment: str
    """The value of the dimension it was clustered within."""
    cluster: str | None
    """The name of its own cluster; None where it could not be embedded."""
    nearest: str | None = None
    """The cluster of baselines that it is nearest to, where there are baselines."""
    distances: Mapping[str, float] = field(default_factory=dict)
    """The cosine distance to each cluster of baselines, or of answers where there are none."""


def cluster_assignments(
    responses: Sequence[Response], embed: Embed, *, by: str | None, number: int = 3, seed: int = 0
) -> list[ClusterAssignment]:
    """Return the cluster of every answer, in the order of their ids.

    Raise Unscorable where the model that embeds is not there.
    """
    answered = [each for each in responses if each.ending is Ending.ANSWERED and each.text]
    segments: dict[str, list[Response]] = {}
    for response in sorted(answered, key=lambda each: each.id):
        value = response.probe.groups.get(by, "none") if by else EVERYTHING
        segments.setdefault(value, []).append(response)
    return [
        assignment
        for segment in sorted(segments)
        for assignment in _segment(segment, segments[segment], embed, number, seed)
    ]


def _segment(
    segment: str, responses: Sequence[Response], embed: Embed, number: int, seed: int
) -> list[ClusterAssignment]:
    texts = [str(response.text) for response in responses]
    vectors, known = _embedded(texts, embed)
    clusters, labels = clustered(vectors, [texts[n] for n in known], number, seed=seed)
    bases = _of_baselines(responses, embed, number, seed)
    nearest = sorted_into(vectors, bases) if bases and known else []
    apart: Any = distances(vectors, bases or clusters) if known else []
    found = {
        n: ClusterAssignment(
            responses[n].id,
            responses[n].probe.key,
            segment,
            clusters[labels[row]].name,
            bases[nearest[row]].name if bases else None,
            {c.name: float(d) for c, d in zip(bases or clusters, apart[row], strict=True)},
        )
        for row, n in enumerate(known)
    }
    return [
        found.get(n, ClusterAssignment(response.id, response.probe.key, segment, None))
        for n, response in enumerate(responses)
    ]


def _of_baselines(
    responses: Sequence[Response], embed: Embed, number: int, seed: int
) -> list[Cluster]:
    texts = sorted({each.probe.baseline for each in responses if each.probe.baseline})
    if not texts:
        return []
    vectors, known = _embedded(texts, embed)
    return clustered(vectors, [texts[n] for n in known], number, seed=seed)[0]


def _embedded(texts: Sequence[str], embed: Embed) -> tuple[Any, list[int]]:
    vectors = embed(texts)
    known = [n for n, vector in enumerate(vectors) if not isinstance(vector, Exception)]
    if not known and texts:
        raise Unscorable("model failed on every text")
    return np.array([vectors[n] for n in known], dtype=float), known
