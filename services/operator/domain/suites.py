"""A BiasSuite: its suite, and how monitors and runs refer to it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from biaswatch.services.operator.domain.conditions import (
    READY,
    ResourceCondition,
    Status,
    Truth,
    merged,
)
from biaswatch.shared.requests.run_views import SuiteView

NOT_READY = "SuiteNotReady"


class SuiteNotReadyError(Exception):
    """The suite of a monitor or a run does not exist yet; the message is a sentence."""


def suite_hash_of(spec: Mapping[str, Any], suites: Mapping[str, str], namespace: str) -> str:
    """Return the hash of the suite of a monitor or a run.

    Raises
    ------
    SuiteNotReadyError
        The BiasSuite does not exist in the namespace, or is not ready.
    """
    reference = spec.get("suite") or {}
    if suite_hash := reference.get("hash"):
        return str(suite_hash)
    name = reference.get("name", "")
    if name not in suites:
        raise SuiteNotReadyError(
            f"The BiasSuite {name} in the namespace {namespace} is not there or not ready."
            " `kubectl get biassuites` says which are."
        )
    return suites[name]


def ready_hash(meta: Mapping[str, Any], status: Status) -> str | None:
    """Return the hash of a BiasSuite that is ready and up to date, else None."""
    current = status.get("observedGeneration") == meta.get("generation")
    ready = any(
        condition["type"] == READY and condition["status"] == Truth.TRUE
        for condition in status.get("conditions") or ()
    )
    return status.get("hash") if current and ready and "deletionTimestamp" not in meta else None


def suite_status(
    meta: Mapping[str, Any], status: Status, suite: SuiteView, at: datetime
) -> dict[str, Any]:
    """Return the status of a BiasSuite that the gateway has."""
    message = f"The suite {suite.name} has {suite.probes} probes."
    if suite.purged:
        message += " Texts of it were purged."
    ready = ResourceCondition(READY, Truth.TRUE, "Stored", message)
    return {
        "observedGeneration": meta.get("generation"),
        "hash": suite.hash,
        "suite": suite.name,
        "probes": suite.probes,
        "conditions": merged(status, [ready], at),
    }
