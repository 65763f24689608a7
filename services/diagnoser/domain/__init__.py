"""Diagnosis of a table of measured responses: pure."""

from services.diagnoser.domain.assessing import Assessed, assess
from services.diagnoser.domain.cases import Case, Plan, Question
from services.diagnoser.domain.diagnosis import diagnose
from services.diagnoser.domain.findings import Finding
from services.diagnoser.domain.own_gaps import with_own_gaps

__all__ = ["Assessed", "Case", "Finding", "Plan", "Question", "assess", "diagnose", "with_own_gaps"]
