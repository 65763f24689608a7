"""Findings of a closed run or of a table: groups described and compared, features assessed."""

from biaswatch.services.diagnoser.domain.findings.assessments import FeatureAssessment, assess
from biaswatch.services.diagnoser.domain.findings.measured_columns import MeasuredColumns, folded
from biaswatch.services.diagnoser.domain.findings.observations import MeasuredResponse
from biaswatch.services.diagnoser.domain.findings.plans import AnalysisPlan
from biaswatch.services.diagnoser.domain.findings.run_diagnosis import diagnose
from biaswatch.services.diagnoser.domain.findings.run_findings import (
    FindingKey,
    RunFinding,
    with_own_gaps,
)
from biaswatch.services.diagnoser.domain.findings.strata import StratumDescription, describe_strata

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
