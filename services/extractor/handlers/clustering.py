"""Clusters a run's answers by meaning, within each value of a dimension, and reports features."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from services.extractor.domain import Unscorable
from services.extractor.domain.clusters import Cluster, clustered, distances, sorted_into
from shared.contracts import Ending, Response

Embed = Callable[[Sequence[str]], Sequence[Any]]
EVERYTHING = "all"


@dataclass(frozen=True)
class Place:
    """Where one answer lies."""

    response_id: str
    probe: str
    segment: str
    """The value of the dimension it was clustered within."""
    cluster: str | None
    """The name of its own cluster; None where it could not be embedded."""
    nearest: str | None = None
    """The cluster of baselines that it lies nearest to, where there are baselines."""
    distances: Mapping[str, float] = field(default_factory=dict)
    """The cosine distance to each cluster of baselines, or of answers where there are none."""


def places_of(
    responses: Sequence[Response], embed: Embed, *, by: str | None, number: int = 3, seed: int = 0
) -> list[Place]:
    """Return the place of every answer, in the order of their ids.

    Raises
    ------
    Unscorable
        The model that embeds is not there.
    """
    answered = [each for each in responses if each.ending is Ending.ANSWERED and each.text]
    segments: dict[str, list[Response]] = {}
    for response in sorted(answered, key=lambda each: each.id):
        value = response.probe.groups.get(by, "none") if by else EVERYTHING
        segments.setdefault(value, []).append(response)
    return [
        place
        for segment in sorted(segments)
        for place in _segment(segment, segments[segment], embed, number, seed)
    ]


def _segment(
    segment: str, responses: Sequence[Response], embed: Embed, number: int, seed: int
) -> list[Place]:
    texts = [str(response.text) for response in responses]
    vectors, known = _embedded(texts, embed)
    clusters, labels = clustered(vectors, [texts[n] for n in known], number, seed=seed)
    bases = _of_baselines(responses, embed, number, seed)
    nearest = sorted_into(vectors, bases) if bases and known else []
    apart: Any = distances(vectors, bases or clusters) if known else []
    found = {
        n: Place(
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
        found.get(n, Place(response.id, response.probe.key, segment, None))
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
