"""The four ways of combining a cluster, against values by hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from biaswatch.services.extractor.domain.clusters import Cluster, CombinedBy, Combining, combined
from biaswatch.services.extractor.domain.extractor import Unscorable

TEXTS = ["b", "a", "other"]
VECTORS = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
CLUSTERS = [Cluster("a_b", (0.8, 0.4), 2), Cluster("other", (0.0, 1.0), 1)]
KNOWN = {"word": [0.8, 0.6], "a b": [0.28, 0.96], "other": [0.0, 1.0]}


def embed(texts: Sequence[str]) -> list[Any]:
    return [KNOWN[text] for text in texts]


def centre(by: CombinedBy, word: str | None = None) -> tuple[float, ...]:
    result = combined(CLUSTERS, [0, 0, 1], VECTORS, TEXTS, Combining(by, word), embed)
    assert [(item.name, item.size) for item in result] == [("a_b", 2), ("other", 1)]
    return result[0].centre


def test_the_average_is_the_centre_of_k_means() -> None:
    assert centre(CombinedBy.AVERAGE) == (0.8, 0.4)


def test_max_pooling_takes_the_largest_of_each_coordinate() -> None:
    assert centre(CombinedBy.MAX_POOLING) == (1.0, 0.8)


def test_a_weighted_average_counts_texts_near_the_word_less() -> None:
    # Cosines with the word are .8 and .96, so the weights are .2 and .04.
    expected = ((0.2 * 1 + 0.04 * 0.6) / 0.24, 0.04 * 0.8 / 0.24)
    assert centre(CombinedBy.WEIGHTED_AVERAGE, "word") == pytest.approx(expected)


def test_a_concatenation_is_the_vector_of_the_texts_together_in_one_order() -> None:
    assert centre(CombinedBy.CONCATENATION) == (0.28, 0.96)


@pytest.mark.parametrize(
    ("by", "word"), [(CombinedBy.WEIGHTED_AVERAGE, None), (CombinedBy.AVERAGE, "word")]
)
def test_a_word_is_needed_by_the_weighted_average_alone(by: CombinedBy, word: str | None) -> None:
    with pytest.raises(ValueError, match="only there"):
        Combining(by, word)


def test_weights_that_are_all_nothing_are_a_reason_and_no_number() -> None:
    same = np.array([[1.0, 0.0]])
    plan = Combining(CombinedBy.WEIGHTED_AVERAGE, "word")
    with pytest.raises(Unscorable, match="the word itself"):
        combined([Cluster("x", (1.0, 0.0), 1)], [0], same, ["x"], plan, lambda _: [[1.0, 0.0]])
