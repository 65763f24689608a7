"""The records that travel, one per file, and the address book of where they go."""

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
from shared.contracts.expansion import expected_of, probes_of
from shared.contracts.features import Features
from shared.contracts.identity import RecordId, Token, derived_id, token_of
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
    "ROUTES",
    "RUN_GATHER",
    "Budget",
    "Cancellation",
    "Claim",
    "ClosedBy",
    "Completion",
    "Diagnosis",
    "Ending",
    "Estimate",
    "ExtractorPin",
    "Features",
    "Gap",
    "GroupDisparity",
    "GroupSummary",
    "Message",
    "MissingTest",
    "Part",
    "Probe",
    "Purpose",
    "Record",
    "RecordId",
    "Response",
    "Role",
    "Route",
    "Run",
    "Step",
    "Suite",
    "SuiteProbe",
    "Target",
    "Token",
    "Usage",
    "Verdict",
    "derived_id",
    "expected_of",
    "features_id_of",
    "probes_of",
    "record_of",
    "response_id_of",
    "route_of",
    "subject_of",
    "token_of",
]
