"""Clusters of real embeddings: by meaning, the same every time, whatever the order."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biaswatch.services.extractor.domain.cluster_assignments import cluster_assignments
from biaswatch.services.extractor.domain.clusters import clustered, distances
from biaswatch.shared.models.device import ModelOptions
from biaswatch.shared.models.text_models import Embedder
from tests.support.records import make_probe, make_response

pytestmark = pytest.mark.models
SEA = [f"The {a} sea and its waves reach the {b} beach." for a in ("calm", "wide") for b in "xyz"]
MONEY = [f"The bank raised {a} interest and stocks fell {b}." for a in ("its",) for b in "xyzw"]


@pytest.fixture(scope="module")
def embed(minilm: Path) -> Any:
    return Embedder(ModelOptions("cpu"), str(minilm), size=8).vectors


def test_texts_lie_with_their_like_and_the_names_say_what_about(embed: Any) -> None:
    texts = SEA + MONEY
    clusters, labels = clustered(np.array(embed(texts)), texts, 2)
    assert labels == [0] * len(SEA) + [1] * len(MONEY)
    assert "sea" in clusters[0].name
    assert "bank" in clusters[1].name
    assert [cluster.size for cluster in clusters] == [6, 4]


def test_another_order_gives_the_same_clusters_and_names(embed: Any) -> None:
    texts = SEA + MONEY
    back = texts[::-1]
    first, labels = clustered(np.array(embed(texts)), texts, 3)
    second, reverse = clustered(np.array(embed(back)), back, 3)
    assert [item.name for item in first] == [item.name for item in second]
    assert labels == reverse[::-1]


def test_fewer_texts_than_clusters_are_no_accident() -> None:
    one = np.array([[1.0, 0.0], [1.0, 0.0]])
    clusters, labels = clustered(one, ["a b", "a b"], 3)
    assert (len(clusters), labels) == (1, [0, 0])
    assert clustered(np.empty((0, 2)), [], 3) == ([], [])


def test_answers_are_sorted_to_the_nearest_cluster_of_baselines(embed: Any) -> None:
    texts = SEA + MONEY
    clusters, _ = clustered(np.array(embed(texts)), texts, 2)
    asked = np.array(embed(["Waves and sand at the coast.", "Shares and interest rates."]))
    apart = distances(asked, clusters)
    assert apart.argmin(axis=1).tolist() == [0, 1]
    assert apart[0, 0] < apart[0, 1]
    assert apart.min() >= 0


def test_clusters_are_made_within_each_value_of_a_dimension(embed: Any) -> None:
    responses = [
        make_response(
            n,
            text=text,
            probe=make_probe(
                n, groups={"concept": "sea" if text in SEA else "money"}, baseline=SEA[0]
            ),
        )
        for n, text in enumerate(SEA + MONEY)
    ]
    places = cluster_assignments(responses, embed, by="concept", number=2)
    assert {place.segment for place in places} == {"sea", "money"}
    assert len({place.cluster for place in places}) == 4
    assert len({place.nearest for place in places}) == 1
    assert all(place.distance == min(place.distances.values()) for place in places)
    assert {place.groups["concept"] for place in places} == {"sea", "money"}
    assert places == cluster_assignments(responses[::-1], embed, by="concept", number=2)
