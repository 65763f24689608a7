"""Diagnosis of a table of measured responses: pure."""

from services.diagnoser.domain.cases import Case, Plan, Question
from services.diagnoser.domain.diagnosis import Finding, diagnose

__all__ = ["Case", "Finding", "Plan", "Question", "diagnose"]
