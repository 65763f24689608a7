"""Findings of a closed run or of a table: groups described and compared, features assessed."""

from biaswatch.shared.analysis.findings.assessments import FeatureAssessment, assess
from biaswatch.shared.analysis.findings.diagnosis import (
    StratumDescription,
    describe_strata,
    diagnose,
)
from biaswatch.shared.analysis.findings.groupings import AnalysisPlan
from biaswatch.shared.analysis.findings.measured_columns import MeasuredColumns, folded
from biaswatch.shared.analysis.findings.observations import MeasuredResponse
from biaswatch.shared.analysis.findings.run_findings import FindingKey, RunFinding, with_own_gaps

__all__ = [
    "AnalysisPlan",
    "FeatureAssessment",
    "FindingKey",
    "MeasuredColumns",
    "MeasuredResponse",
    "RunFinding",
    "StratumDescription",
    "assess",
    "describe_strata",
    "diagnose",
    "folded",
    "with_own_gaps",
]
