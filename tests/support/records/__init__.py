"""Makers of records for tests: deterministic, complete, every field open to override."""

from tests.support.records.auditing import make_act, make_anchor
from tests.support.records.findings import (
    make_assessment,
    make_brief,
    make_diagnosis,
    make_evaluation,
    make_progress,
    make_provenance,
    make_subject,
    make_verdict,
)
from tests.support.records.kinds import one_of_each_kind
from tests.support.records.labels import make_correction, make_label, make_label_sample
from tests.support.records.monitoring import (
    make_alarm,
    make_evidence,
    make_increment,
    make_monitor,
    make_plan,
    make_round,
    make_round_evidence,
)
from tests.support.records.pipeline import (
    AT,
    RUN_ID,
    make_cancellation,
    make_completion,
    make_features,
    make_probe,
    make_response,
    make_run,
    make_target,
)
from tests.support.records.traffic import make_description, make_exchange, make_traffic_monitor

__all__ = [
    "AT",
    "RUN_ID",
    "make_act",
    "make_alarm",
    "make_anchor",
    "make_assessment",
    "make_brief",
    "make_cancellation",
    "make_completion",
    "make_correction",
    "make_description",
    "make_diagnosis",
    "make_evaluation",
    "make_evidence",
    "make_exchange",
    "make_features",
    "make_increment",
    "make_label",
    "make_label_sample",
    "make_monitor",
    "make_plan",
    "make_probe",
    "make_progress",
    "make_provenance",
    "make_response",
    "make_round",
    "make_round_evidence",
    "make_run",
    "make_subject",
    "make_target",
    "make_traffic_monitor",
    "make_verdict",
    "one_of_each_kind",
]
