"""What labels of people make of a run's findings."""

from biaswatch.services.diagnoser.domain.labels.corrections import FindingCorrection, corrections

__all__ = ["FindingCorrection", "corrections"]
