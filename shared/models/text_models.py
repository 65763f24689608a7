"""Text classifiers and embedders."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biaswatch.shared.models.device import MINILM, ModelOptions, packaged_folder
from biaswatch.shared.models.forward_passes import LazyModel, LoadedModel, Row, longest_of

Scores = Mapping[str, float]


class NotFinite(ValueError):  # noqa: N818 - recorded as a text's own outcome
    """The model returned a value that is not finite."""


class Classifier:
    """One text classifier, loaded at its first use."""

    def __init__(self, model: str, models: ModelOptions, *, size: int | None = None) -> None:
        self.model = model
        self._models = models
        self._labels: tuple[str, ...] = ()
        self._lazy = LazyModel(model, self._load, size=size)

    def scores(self, texts: Sequence[str]) -> list[Scores | Exception]:
        """Return the score of each label for each text, or its error.

        As in the pipeline of transformers, scores are softmax, or a sigmoid per label for models
        with several labels per text. Raise ModelUnavailable if the model cannot be loaded.
        """
        return [self._named(row) for row in self._lazy.passes().over(texts)]

    def size_for(self, tokens: int) -> int:
        """Return the fastest measured batch size for texts of this length."""
        return self._lazy.passes().size_for(tokens)

    def _named(self, row: Row | Exception) -> Scores | Exception:
        if isinstance(row, Exception):
            return row
        if not np.isfinite(row).all():
            return NotFinite("the model gave no finite number")
        return dict(zip(self._labels, row.tolist(), strict=True))

    def _load(self) -> LoadedModel:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        local = not self._models.download
        tokenizer = AutoTokenizer.from_pretrained(self.model, local_files_only=local)
        network = AutoModelForSequenceClassification.from_pretrained(
            self.model, local_files_only=local, dtype=self._models.precision()
        )
        network = network.eval().to(self._models.torch_device())
        config = network.config
        self._labels = tuple(config.id2label[n] for n in range(config.num_labels))

        def rows(padded: Any) -> Any:
            return _activated(network(**padded).logits.float(), config)

        return LoadedModel(
            tokenizer, longest_of(tokenizer, config), self._models.torch_device(), rows
        )


def _activated(logits: Any, config: Any) -> Any:
    if config.problem_type == "regression":
        return logits
    if config.problem_type == "multi_label_classification" or config.num_labels == 1:
        return logits.sigmoid()
    return logits.softmax(dim=-1)


class Embedder:
    """One sentence-transformers model, loaded at its first use, from its package if installed."""

    def __init__(
        self, models: ModelOptions, model: str = MINILM, *, size: int | None = None
    ) -> None:
        self.model = model
        self._models = models
        self._lazy = LazyModel(model, self._load, size=size)

    def vectors(self, texts: Sequence[str]) -> list[Row | Exception]:
        """Return the unit vector of each text, or its error.

        Raise ModelUnavailable if the model cannot be loaded.
        """
        return [_unit(row) for row in self._lazy.passes().over(texts)]

    def size_for(self, tokens: int) -> int:
        """Return the fastest measured batch size for texts of this length."""
        return self._lazy.passes().size_for(tokens)

    def _load(self) -> LoadedModel:
        from sentence_transformers import SentenceTransformer

        packaged = packaged_folder(self.model)
        network = SentenceTransformer(
            str(packaged or self.model),
            device=str(self._models.torch_device()),
            local_files_only=bool(packaged) or not self._models.download,
            model_kwargs={"dtype": self._models.precision()},
        ).eval()
        tokenizer = network.tokenizer
        longest = min(network.max_seq_length or longest_of(tokenizer, None), 512)

        def rows(padded: Any) -> Any:
            return network(dict(padded))["sentence_embedding"]

        return LoadedModel(tokenizer, longest, self._models.torch_device(), rows)


def _unit(row: Row | Exception) -> Row | Exception:
    """Scale the mean of windows to length one."""
    if isinstance(row, Exception):
        return row
    length = float(np.linalg.norm(row))
    if not np.isfinite(length) or length == 0:
        return ValueError("the model gave no direction")
    unit: Row = row / length
    return unit
