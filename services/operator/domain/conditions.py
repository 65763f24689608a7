"""Conditions and events of a resource, as kubectl shows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

GROUP, VERSION = "biaswatch.io", "v1beta1"
MONITORS, SUITES, RUNS = "biasmonitors", "biassuites", "biasruns"
SEARCHES = "biassearches"
OPERATOR = "operator"
"""Name of the operator's Lease, and of the ConfigMap with its records."""
READY = "Ready"
Status = Mapping[str, Any]
"""The status of a resource, as the API server has it."""


class Truth(StrEnum):
    """Truth of a condition, as Kubernetes writes it."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"

    @staticmethod
    def of(holds: bool) -> "Truth":
        """Return True or False."""
        return Truth.TRUE if holds else Truth.FALSE


@dataclass(frozen=True)
class ResourceCondition:
    """A condition of a resource."""

    type: str
    status: Truth
    reason: str
    """One word in CamelCase, for programs."""
    message: str = ""
    """A sentence, for people."""


@dataclass(frozen=True)
class ResourceEvent:
    """An event of a resource, posted once."""

    reason: str
    message: str
    warning: bool = False


@dataclass(frozen=True)
class Reconciled:
    """The status and events of a resource after its reconciliation."""

    status: dict[str, Any]
    events: list[ResourceEvent] = field(default_factory=list)
    outcome: str = "in_order"
    """in_order, refused, waiting or unreachable."""


def merged(
    status: Status, conditions: Iterable[ResourceCondition], at: datetime
) -> list[dict[str, str]]:
    """Return the conditions of a status, updated with some.

    A condition whose status is unchanged keeps the time of its last transition.
    """
    by_type = _by_type(status)
    for condition in conditions:
        previous = by_type.get(condition.type, {})
        unchanged = previous.get("status") == condition.status
        since = previous.get("lastTransitionTime") if unchanged else None
        by_type[condition.type] = {
            "type": condition.type,
            "status": condition.status.value,
            "reason": condition.reason,
            "message": condition.message,
            "lastTransitionTime": since or moment(at),
        }
    return list(by_type.values())


def not_ready_events(status: Status, condition: ResourceCondition) -> list[ResourceEvent]:
    """Return the event of a resource that is not ready, unless its message is unchanged."""
    message = _by_type(status).get(READY, {}).get("message", "")
    if condition.status is not Truth.FALSE or message == condition.message:
        return []
    return [ResourceEvent(condition.reason, condition.message, warning=True)]


def changed_fields(status: Status, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a status to write; None removes one."""
    removed = [name for name in status if name not in wanted and status[name] is not None]
    changed = {name: value for name, value in wanted.items() if status.get(name) != value}
    return dict.fromkeys(removed) | changed


def moment(at: datetime) -> str:
    """Return a moment in the format of Kubernetes, to the second."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _by_type(status: Status) -> dict[str, dict[str, str]]:
    return {condition["type"]: dict(condition) for condition in status.get("conditions") or ()}
