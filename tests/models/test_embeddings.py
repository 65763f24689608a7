"""all-MiniLM-L6-v2 through the real code gives what sentence-transformers gives."""

from pathlib import Path

import numpy as np
import pytest

from biaswatch.services.extractor.domain import Reading, measured_all
from biaswatch.services.extractor.extractors.embedding_distance import EmbeddingDistanceExtractor
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.shared.models.device import ModelOptions
from biaswatch.shared.models.text_models import Embedder

pytestmark = pytest.mark.models
TEXTS = [
    "A quiet town by the sea.",
    "Stock prices fell sharply on Monday.",
    "The village on the coast is calm.",
    "!",
    "People there were kind. " * 5,
]


def test_vectors_are_those_of_sentence_transformers(minilm: Path) -> None:
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(minilm), device="cpu")
    result = Embedder(ModelOptions("cpu"), str(minilm), size=4).vectors(TEXTS)
    for text, vector in zip(TEXTS, result, strict=True):
        assert not isinstance(vector, Exception)
        np.testing.assert_allclose(vector, expected.encode(text), atol=1e-5)


def test_the_packaged_model_is_used_by_name_without_a_download(minilm: Path) -> None:
    by_name = Embedder(ModelOptions("cpu"), size=4)
    folder = Embedder(ModelOptions("cpu"), str(minilm), size=4)
    assert by_name.model == "sentence-transformers/all-MiniLM-L6-v2"
    for named, result in zip(by_name.vectors(TEXTS), folder.vectors(TEXTS), strict=True):
        assert isinstance(named, np.ndarray)
        assert isinstance(result, np.ndarray)
        np.testing.assert_allclose(named, result)


def test_the_extractor_of_distances_uses_the_packaged_model(minilm: Path) -> None:
    extractor = load(["embedding_distance"], models=ModelOptions("cpu"))["embedding_distance"]
    near, far = measured_all(
        extractor,
        [Reading("A cat sleeps.", baseline=item) for item in ("A cat is asleep.", "Taxes rose.")],
    )
    assert near[1] is far[1] is None
    assert (near[0]["cosine_distance"] or 0) < (far[0]["cosine_distance"] or 0)


def test_a_text_longer_than_the_model_takes_is_not_cut(minilm: Path) -> None:
    embedder = Embedder(ModelOptions("cpu"), str(minilm), size=4)
    long = "The sea is calm today. " * 100
    end = "Stock prices fell sharply and banks failed. " * 100
    one, both = embedder.vectors([long, long + end])
    assert not isinstance(one, Exception)
    assert not isinstance(both, Exception)
    assert float(one @ both) < 0.98
    assert np.linalg.norm(both) == pytest.approx(1)


def test_distances_to_the_baseline_are_cosine_l1_and_l2(minilm: Path) -> None:
    embedder = Embedder(ModelOptions("cpu"), str(minilm), size=4)
    extractor = EmbeddingDistanceExtractor(str(minilm), embedder.vectors)
    a, b = (np.asarray(v) for v in embedder.vectors([TEXTS[0], TEXTS[1]]))
    result = measured_all(
        extractor,
        [
            Reading(TEXTS[0], baseline=TEXTS[1]),
            Reading(TEXTS[0], baseline=TEXTS[0]),
            Reading(TEXTS[0]),
            Reading(" ", baseline="x"),
        ],
    )
    assert result[0][0] == pytest.approx(
        {
            "cosine_distance": 1 - a @ b,
            "l1_distance": np.abs(a - b).sum(),
            "l2_distance": np.sqrt(((a - b) ** 2).sum()),
        },
        abs=1e-6,
    )
    assert result[1][0] == pytest.approx(dict.fromkeys(extractor.features, 0), abs=1e-6)
    assert [why for _, why in result[2:]] == ["no baseline", "empty text"]
