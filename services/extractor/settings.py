"""The extractor's knobs."""

from pydantic import Field

from shared.runtime.settings import Settings


class ExtractorSettings(Settings):
    """What can be set on the extractor, beyond what every service has."""

    extractor_names: str = "words,vader,rating,choice"
    """Which extractors run here, by file name; only these are loaded."""
    extractor_batch: int = Field(default=64, ge=1)
    """The most responses measured at once."""
    extractor_announce_s: float = Field(default=10, gt=0)
    """How often the extractors say that they are running."""
