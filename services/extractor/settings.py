"""The extractor's settings."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class ExtractorSettings(Settings):
    """What can be set on the extractor, beyond what every service has."""

    extractor_names: str = "words,length,readability,hedging,refusal,profanity,vader,rating,choice"
    """Which extractors run here, by name; only these are loaded."""
    extractor_folder: Path | None = None
    """A folder of your own extractors: each file in it is one."""
    extractor_batch: int = Field(default=64, ge=1)
    """The most responses measured at once."""
    extractor_announce_s: float = Field(default=10, gt=0)
    """How often the extractors say that they are running."""
    extractor_device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where models run; `auto` takes a GPU where there is one."""
    extractor_download: bool = False
    """Whether models that are not on this machine may be downloaded."""
    extractor_models: Path | None = None
    """A YAML file of Hugging Face text classifiers: name, model, label -> feature."""
    extractor_discover_s: float = Field(default=1, gt=0)
    """How often the bus is asked which drop-in extractors are there."""
    extractor_call_s: float = Field(default=30, gt=0)
    """How long a drop-in may take for one call."""
