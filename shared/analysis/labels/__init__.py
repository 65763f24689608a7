"""Corrections of a run's findings by people's labels."""

from biaswatch.shared.analysis.labels.corrections import FindingCorrection, corrections

__all__ = ["FindingCorrection", "corrections"]
