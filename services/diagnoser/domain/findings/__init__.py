"""Findings of a closed run or of a table: groups described and compared, features assessed."""

from services.diagnoser.domain.findings.assessments import FeatureAssessment, assess
from services.diagnoser.domain.findings.observations import MeasuredResponse
from services.diagnoser.domain.findings.plans import AnalysisPlan
from services.diagnoser.domain.findings.run_diagnosis import diagnose
from services.diagnoser.domain.findings.run_findings import FindingKey, RunFinding, with_own_gaps

__all__ = [
    "AnalysisPlan",
    "FeatureAssessment",
    "FindingKey",
    "MeasuredResponse",
    "RunFinding",
    "assess",
    "diagnose",
    "with_own_gaps",
]
