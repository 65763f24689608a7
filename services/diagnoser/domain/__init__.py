"""Diagnosis of a table of measured responses: pure."""

from services.diagnoser.domain.assessing import Assessed, assess
from services.diagnoser.domain.cases import Case, Plan, Question
from services.diagnoser.domain.diagnosis import diagnose
from services.diagnoser.domain.findings import Finding

__all__ = ["Assessed", "Case", "Finding", "Plan", "Question", "assess", "diagnose"]
