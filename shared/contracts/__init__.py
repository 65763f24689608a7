"""The records that travel, one per file, and the address book of where they go."""

from shared.contracts.completion import ClosedBy, Completion
from shared.contracts.features import Features
from shared.contracts.identity import RecordId, Token, derived_id, token_of
from shared.contracts.probe import Message, Probe, Role
from shared.contracts.record import Part, Purpose, Record
from shared.contracts.response import Ending, Response, Usage
from shared.contracts.routes import ROUTES, Route, record_of, route_of, subject_of
from shared.contracts.run import ExtractorPin, Run
from shared.contracts.target import Target

__all__ = [
    "ROUTES", "ClosedBy", "Completion", "Ending", "ExtractorPin", "Features", "Message", "Part",
    "Probe", "Purpose", "Record", "RecordId", "Response", "Role", "Route", "Run", "Target", "Token",
    "Usage", "derived_id", "record_of", "route_of", "subject_of", "token_of",
]  # fmt: skip
