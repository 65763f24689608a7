"""The interface of extractors, for built-in ones and your own."""

from biaswatch.services.extractor.domain.extractor import (
    BatchExtractor,
    Extractor,
    FunctionExtractor,
    Measured,
    Outcome,
    Reading,
    ReadingExtractor,
    Unscorable,
    batch_of_one,
    measured_all,
)

__all__ = [
    "BatchExtractor",
    "Extractor",
    "FunctionExtractor",
    "Measured",
    "Outcome",
    "Reading",
    "ReadingExtractor",
    "Unscorable",
    "batch_of_one",
    "measured_all",
]
