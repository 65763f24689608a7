"""Makers of what the audit trail holds."""

from typing import Any

from biaswatch.shared.contracts import AuditAction, AuditAnchor, AuditedAct
from tests.support.records.pipeline import AT


def make_act(**fields: Any) -> AuditedAct:
    """Make an act: a monitor that a person pauses."""
    given = {
        "tenant": "default",
        "actor": "anna",
        "role": "run",
        "source": "10.0.0.7",
        "action": AuditAction.MONITOR_PAUSE,
        "subject": "coasts",
    }
    return AuditedAct(**{**given, **fields})


def make_anchor(**fields: Any) -> AuditAnchor:
    """Make the anchor of a trail with one entry."""
    return AuditAnchor(**{"at": AT, "number": 1, "hash": "c" * 64, **fields})
