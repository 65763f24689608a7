"""Conditions and events of a resource, as kubectl shows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

READY = "Ready"
Status = Mapping[str, Any]
"""The status of a resource, as the API server has it."""


class Truth(StrEnum):
    """Whether a condition holds; Kubernetes writes it like this."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"

    @staticmethod
    def of(holds: bool) -> "Truth":
        """Return what is known for sure."""
        return Truth.TRUE if holds else Truth.FALSE


@dataclass(frozen=True)
class ResourceCondition:
    """One thing that is so, is not so, or is not known."""

    type: str
    status: Truth
    reason: str
    """One word in CamelCase, for programs."""
    message: str = ""
    """A sentence, for people."""


@dataclass(frozen=True)
class ResourceEvent:
    """Something that happened, told once."""

    reason: str
    message: str
    warning: bool = False


@dataclass(frozen=True)
class Reconciled:
    """What a resource is told after it was looked at."""

    status: dict[str, Any]
    events: list[ResourceEvent] = field(default_factory=list)
    outcome: str = "in_order"
    """How the look ended: in_order, refused, waiting or unreachable."""


def ready_of(status: Status) -> str:
    """Return why a resource was ready, or was not, when it was last looked at."""
    return _by_type(status).get(READY, {}).get("message", "")


def merged(status: Status, now: Iterable[ResourceCondition], at: datetime) -> list[dict[str, str]]:
    """Return the conditions of a status with those of now in their place.

    A condition that holds as before keeps the moment since when it does.
    """
    found = _by_type(status)
    for each in now:
        before = found.get(each.type, {})
        since = before.get("lastTransitionTime") if before.get("status") == each.status else None
        found[each.type] = {
            "type": each.type,
            "status": each.status.value,
            "reason": each.reason,
            "message": each.message,
            "lastTransitionTime": since or moment(at),
        }
    return list(found.values())


def told_once(status: Status, condition: ResourceCondition) -> list[ResourceEvent]:
    """Return the event of a resource that is not ready, unless it was told so before."""
    if condition.status is not Truth.FALSE or ready_of(status) == condition.message:
        return []
    return [ResourceEvent(condition.reason, condition.message, warning=True)]


def differing(status: Status, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a status that have to be written; None removes one."""
    gone = dict.fromkeys(name for name in status if name not in wanted and status[name] is not None)
    return gone | {name: value for name, value in wanted.items() if status.get(name) != value}


def moment(at: datetime) -> str:
    """Return a moment as Kubernetes writes it, to the second."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _by_type(status: Status) -> dict[str, dict[str, str]]:
    return {each["type"]: dict(each) for each in status.get("conditions") or ()}


GROUP, VERSION = "biaswatch.io", "v1alpha1"
MONITORS, SUITES, RUNS = "biasmonitors", "biassuites", "biasruns"
FINALIZER = f"{GROUP}/operator"
"""While a resource has it, it is not gone: the gateway has still to be asked."""
