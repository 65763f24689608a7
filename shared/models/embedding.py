"""Sentence embeddings: texts become vectors of length one, near where the meaning is near."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shared.models.device import ModelOptions
from shared.models.forward_passes import LazyModel, LoadedModel, Row, longest_of

MINILM = "sentence-transformers/all-MiniLM-L6-v2"


class Embedder:
    """One sentence-transformers model; loaded when first asked."""

    def __init__(
        self, models: ModelOptions, model: str = MINILM, *, size: int | None = None
    ) -> None:
        self.model = model
        self._models = models
        self._lazy = LazyModel(model, self._load, size=size)

    def vectors(self, texts: Sequence[str]) -> list[Row | Exception]:
        """Return the vector of each text, or what went wrong with it.

        Raises
        ------
        ModelUnavailable
            It is not on this machine, and may not or cannot be fetched.
        """
        return [_unit(row) for row in self._lazy.passes().over(texts)]

    def size_for(self, tokens: int) -> int:
        """Return the batch size that was measured to be best for texts of this length."""
        return self._lazy.passes().size_for(tokens)

    def _load(self) -> LoadedModel:
        from sentence_transformers import SentenceTransformer

        network = SentenceTransformer(
            self.model,
            device=str(self._models.torch_device()),
            local_files_only=not self._models.download,
            model_kwargs={"dtype": self._models.precision()},
        ).eval()
        tokenizer = network.tokenizer
        longest = min(network.max_seq_length or longest_of(tokenizer, None), 512)

        def rows(padded: Any) -> Any:
            return network(dict(padded))["sentence_embedding"]

        return LoadedModel(tokenizer, longest, self._models.torch_device(), rows)


def _unit(row: Row | Exception) -> Row | Exception:
    """Bring the mean of windows back to length one."""
    if isinstance(row, Exception):
        return row
    length = float(np.linalg.norm(row))
    if not np.isfinite(length) or length == 0:
        return ValueError("the model gave no direction")
    unit: Row = row / length
    return unit
