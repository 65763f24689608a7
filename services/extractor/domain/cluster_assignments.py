"""The cluster of every answer of a run, and its distances to clusters of baselines or answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from biaswatch.services.extractor.domain.clusters import (
    Cluster,
    Vectors,
    clustered,
    distances,
    sorted_into,
)
from biaswatch.services.extractor.domain.combining import Combining, Embed, combined
from biaswatch.services.extractor.domain.extractor import Unscorable
from biaswatch.shared.contracts import Ending, Response

EVERYTHING = "all"
AVERAGE = Combining()


@dataclass(frozen=True)
class KMeansPlan:
    """How many clusters, from which seed, combined in which way."""

    number: int
    seed: int
    combining: Combining


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
    responses: Sequence[Response],
    embed: Embed,
    *,
    by: str | None,
    number: int = 3,
    seed: int = 0,
    combining: Combining = AVERAGE,
) -> list[ClusterAssignment]:
    """Return the cluster of every answer, in the order of their ids.

    `combining` says what distances are measured to. Raise Unscorable where the model that embeds is
    not there.
    """
    answered = [each for each in responses if each.ending is Ending.ANSWERED and each.text]
    segments: dict[str, list[Response]] = {}
    for response in sorted(answered, key=lambda each: each.id):
        value = response.probe.groups.get(by, "none") if by else EVERYTHING
        segments.setdefault(value, []).append(response)
    return [
        assignment
        for segment in sorted(segments)
        for assignment in _segment(
            segment, segments[segment], embed, KMeansPlan(number, seed, combining)
        )
    ]


def _segment(
    segment: str, responses: Sequence[Response], embed: Embed, plan: KMeansPlan
) -> list[ClusterAssignment]:
    texts = [str(response.text) for response in responses]
    vectors, known = _embedded(texts, embed)
    clusters, labels = _combined(vectors, [texts[n] for n in known], embed, plan)
    bases = _of_baselines(responses, embed, plan)
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


def _combined(
    vectors: Vectors, texts: Sequence[str], embed: Embed, plan: KMeansPlan
) -> tuple[list[Cluster], list[int]]:
    clusters, labels = clustered(vectors, texts, plan.number, seed=plan.seed)
    return combined(clusters, labels, vectors, texts, plan.combining, embed), labels


def _of_baselines(responses: Sequence[Response], embed: Embed, plan: KMeansPlan) -> list[Cluster]:
    texts = sorted({each.probe.baseline for each in responses if each.probe.baseline})
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
