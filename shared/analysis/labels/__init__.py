"""What labels of people make of a run's findings."""

from biaswatch.shared.analysis.labels.corrections import FindingCorrection, corrections

__all__ = ["FindingCorrection", "corrections"]
