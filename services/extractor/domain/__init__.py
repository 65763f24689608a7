"""What an extractor is, and what it may return."""

from biaswatch.services.extractor.domain.extractor import (
    BatchExtractor,
    Extractor,
    Measured,
    Outcome,
    Reading,
    Unscorable,
    batch_of_one,
    measured_all,
)

__all__ = [
    "BatchExtractor",
    "Extractor",
    "Measured",
    "Outcome",
    "Reading",
    "Unscorable",
    "batch_of_one",
    "measured_all",
]
