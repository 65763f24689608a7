"""The records that travel, one per file, and the address book of where they go."""

from shared.contracts.alarm import Alarm, AlarmKind, AlarmState, Twins
from shared.contracts.cancellation import Cancellation
from shared.contracts.completion import FEATURES, RUN_GATHER, ClosedBy, Completion
from shared.contracts.diagnosis import (
    Diagnosis,
    Estimate,
    Gap,
    GroupDisparity,
    GroupSummary,
    MissingTest,
    Verdict,
)
from shared.contracts.evidence import Change, Evidence, Increment, Round
from shared.contracts.expansion import asked_of, expected_of, probes_of, shuffled_sets
from shared.contracts.features import Features
from shared.contracts.identity import RecordId, Token, derived_id, token_of
from shared.contracts.monitor import (
    MISSING,
    Comparison,
    Method,
    Monitor,
    MonitorPlan,
    MonitorState,
    Upkeep,
    WatchedFeature,
    WatchedPair,
)
from shared.contracts.probe import Message, Probe, Role
from shared.contracts.record import Part, Purpose, Record
from shared.contracts.response import Ending, Response, Step, Usage
from shared.contracts.routes import (
    ROUTES,
    Route,
    features_id_of,
    record_of,
    response_id_of,
    route_of,
    subject_of,
)
from shared.contracts.run import Budget, ExtractorPin, Run
from shared.contracts.suite import Claim, Suite, SuiteProbe
from shared.contracts.target import Target

__all__ = [
    "FEATURES",
    "MISSING",
    "ROUTES",
    "RUN_GATHER",
    "Alarm",
    "AlarmKind",
    "AlarmState",
    "Budget",
    "Cancellation",
    "Change",
    "Claim",
    "ClosedBy",
    "Comparison",
    "Completion",
    "Diagnosis",
    "Ending",
    "Estimate",
    "Evidence",
    "ExtractorPin",
    "Features",
    "Gap",
    "GroupDisparity",
    "GroupSummary",
    "Increment",
    "Message",
    "Method",
    "MissingTest",
    "Monitor",
    "MonitorPlan",
    "MonitorState",
    "Part",
    "Probe",
    "Purpose",
    "Record",
    "RecordId",
    "Response",
    "Role",
    "Round",
    "Route",
    "Run",
    "Step",
    "Suite",
    "SuiteProbe",
    "Target",
    "Token",
    "Twins",
    "Upkeep",
    "Usage",
    "Verdict",
    "WatchedFeature",
    "WatchedPair",
    "asked_of",
    "derived_id",
    "expected_of",
    "features_id_of",
    "probes_of",
    "record_of",
    "response_id_of",
    "route_of",
    "shuffled_sets",
    "subject_of",
    "token_of",
]
