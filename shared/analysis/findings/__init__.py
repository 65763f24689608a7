"""Findings of a closed run or of a table: groups described and compared, features assessed."""

from biaswatch.shared.analysis.findings.assessments import FeatureAssessment, assess
from biaswatch.shared.analysis.findings.diagnosis import describe_strata, diagnose, with_own_gaps
from biaswatch.shared.analysis.findings.groupings import AnalysisPlan
from biaswatch.shared.analysis.findings.growing_columns import folded
from biaswatch.shared.analysis.findings.measured_columns import MeasuredColumns
from biaswatch.shared.analysis.findings.measured_responses import MeasuredResponse
from biaswatch.shared.analysis.findings.run_findings import FindingKey, RunFinding

__all__ = [
    "AnalysisPlan",
    "FeatureAssessment",
    "FindingKey",
    "MeasuredColumns",
    "MeasuredResponse",
    "RunFinding",
    "assess",
    "describe_strata",
    "diagnose",
    "folded",
    "with_own_gaps",
]
