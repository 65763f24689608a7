"""The cluster of each answer, within a dimension."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from biaswatch.services.extractor.domain.clusters import (
    Cluster,
    Combining,
    Embed,
    Vectors,
    clustered,
    combined,
    distances,
)
from biaswatch.services.extractor.domain.extractor import Unscorable
from biaswatch.shared.contracts import Ending, Response
from biaswatch.shared.lookup import grouped

EVERYTHING = "all"
AVERAGE = Combining()


@dataclass(frozen=True)
class KMeansPlan:
    """Parameters of clustering."""

    number: int
    seed: int
    combining: Combining


@dataclass(frozen=True)
class ClusterAssignment:
    """The cluster of one answer and its distances to clusters."""

    response_id: str
    probe: str
    segment: str
    """The value of the dimension within which it was clustered."""
    unit: str
    set: str | None
    groups: Mapping[str, str]
    cluster: str | None = None
    """The name of its cluster; None if it could not be embedded."""
    nearest: str | None = None
    """The nearest cluster of baselines, if there are baselines."""
    distances: Mapping[str, float] = field(default_factory=dict)
    """Cosine distances to the clusters of baselines, or of answers if there are none."""
    distance: float | None = None
    """The smallest of them."""


def cluster_assignments(
    responses: Sequence[Response],
    embed: Embed,
    *,
    by: str | None,
    number: int = 3,
    seed: int = 0,
    combining: Combining = AVERAGE,
) -> list[ClusterAssignment]:
    """Return the cluster of every answer, ordered by id, clustered within a dimension.

    Raise Unscorable if the embedding model is missing.
    """
    answered = [r for r in responses if r.ending is Ending.ANSWERED and r.text]
    segments = grouped(
        (response.probe.groups.get(by, "none") if by else EVERYTHING, response)
        for response in sorted(answered, key=lambda response: response.id)
    )
    plan = KMeansPlan(number, seed, combining)
    return [
        assignment
        for segment in sorted(segments)
        for assignment in _segment(segment, segments[segment], embed, plan)
    ]


def _segment(
    segment: str, responses: Sequence[Response], embed: Embed, plan: KMeansPlan
) -> list[ClusterAssignment]:
    texts = [str(response.text) for response in responses]
    vectors, known = _embedded(texts, embed)
    clusters, labels = _combined(vectors, [texts[n] for n in known], embed, plan)
    baselines = _baseline_clusters(responses, embed, plan)
    references = baselines or clusters
    assignments = [
        ClusterAssignment(
            r.id, r.probe.key, segment, r.probe.unit_id, r.probe.set_id, r.probe.groups
        )
        for r in responses
    ]
    rows: Any = distances(vectors, references) if known else []
    for n, label, row in zip(known, labels, rows, strict=True):
        assignments[n] = replace(
            assignments[n],
            cluster=clusters[label].name,
            nearest=baselines[int(row.argmin())].name if baselines else None,
            distances={c.name: float(d) for c, d in zip(references, row, strict=True)},
            distance=float(row.min()),
        )
    return assignments


def _combined(
    vectors: Vectors, texts: Sequence[str], embed: Embed, plan: KMeansPlan
) -> tuple[list[Cluster], list[int]]:
    clusters, labels = clustered(vectors, texts, plan.number, seed=plan.seed)
    return combined(clusters, labels, vectors, texts, plan.combining, embed), labels


def _baseline_clusters(
    responses: Sequence[Response], embed: Embed, plan: KMeansPlan
) -> list[Cluster]:
    texts = sorted({r.probe.baseline for r in responses if r.probe.baseline})
    if not texts:
        return []
    vectors, known = _embedded(texts, embed)
    return _combined(vectors, [texts[n] for n in known], embed, plan)[0]


def _embedded(texts: Sequence[str], embed: Embed) -> tuple[Any, list[int]]:
    vectors = embed(texts)
    known = [n for n, vector in enumerate(vectors) if not isinstance(vector, Exception)]
    if not known and texts:
        raise Unscorable("model failed on every text")
    return np.array([vectors[n] for n in known], dtype=float), known
