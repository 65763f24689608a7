"""Settings of the extractor."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from biaswatch.shared.models.device import MINILM, ModelOptions
from biaswatch.shared.runtime.settings import Settings


class ExtractorSettings(Settings):
    """Settings of the extractor, in addition to those of every service."""

    extractor_names: str = (
        "words,length,readability,hedging,refusal,profanity,vader,rating,choice,ranking,steps,"
        "likelihood"
    )
    """Names of the extractors that run here; only these are loaded."""
    extractor_folder: Path | None = None
    """A folder of your own extractors, one per file."""
    extractor_batch: int = Field(default=64, ge=1)
    """Maximum responses measured at once."""
    extractor_announce_s: float = Field(default=10, gt=0)
    """Interval between announcements of running extractors."""
    extractor_device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device of models; `auto` uses a GPU if there is one."""
    extractor_download: bool = False
    """True if missing models may be downloaded."""
    extractor_embedder: str = MINILM
    """The sentence-transformers model of distances and clusters: a folder, or a name in the
    cache."""
    extractor_distance: str | None = None
    """Your distance of two embeddings, `module:function`; a feature of `embedding_distance`."""
    extractor_models: Path | None = None
    """A YAML file of Hugging Face text classifiers: name, model, label -> feature."""
    extractor_discover_s: float = Field(default=1, gt=0)
    """Interval at which drop-in extractors are looked for on the bus."""
    extractor_call_s: float = Field(default=30, gt=0)
    """Time limit of one call of a drop-in."""

    @property
    def models(self) -> ModelOptions:
        """The options for loading models."""
        return ModelOptions(
            self.extractor_device,
            self.extractor_download,
            self.extractor_embedder,
            self.extractor_distance,
        )
