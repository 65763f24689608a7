"""Text classifiers of Hugging Face: the score of every label for every text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shared.models.device import ModelOptions
from shared.models.forward_passes import LazyModel, LoadedModel, Row, longest_of

Scores = Mapping[str, float]


class NotFinite(ValueError):  # noqa: N818 - recorded as a text's own outcome
    """The model gave something that is no number."""


class Classifier:
    """One model; loaded when first asked."""

    def __init__(self, model: str, models: ModelOptions, *, size: int | None = None) -> None:
        self.model = model
        self._models = models
        self._labels: tuple[str, ...] = ()
        self._lazy = LazyModel(model, self._load, size=size)

    def scores(self, texts: Sequence[str]) -> list[Scores | Exception]:
        """Return the score of each label for each text, or what went wrong with it.

        Softmax, or a sigmoid for each label where the model says that several may hold: what
        transformers' own pipeline does.

        Raises
        ------
        ModelUnavailable
            It is not on this machine, and may not or cannot be fetched.
        """
        return [self._named(row) for row in self._lazy.passes().over(texts)]

    def size_for(self, tokens: int) -> int:
        """Return the batch size that was measured to be best for texts of this length."""
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
