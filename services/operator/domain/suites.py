"""A BiasSuite: which suite it names, and how monitors and runs find it."""

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
from biaswatch.services.operator.domain.gateway_replies import SeenSuite

NOT_READY = "SuiteNotReady"


class SuiteNotReadyError(Exception):
    """A suite that a monitor or a run names is not there yet; the text is a sentence."""


def suite_hash_of(spec: Mapping[str, Any], suites: Mapping[str, str], namespace: str) -> str:
    """Return the hash of the suite that a monitor or a run names.

    Raises
    ------
    SuiteNotReadyError
        There is no such BiasSuite in the namespace, or it is not ready.
    """
    named = spec.get("suite") or {}
    if found := named.get("hash"):
        return str(found)
    name = named.get("name", "")
    if name not in suites:
        raise SuiteNotReadyError(
            f"The BiasSuite {name} in the namespace {namespace} is not there or not ready."
            " `kubectl get biassuites` says which are."
        )
    return suites[name]


def offered_hash(meta: Mapping[str, Any], status: Status) -> str | None:
    """Return the hash under which a BiasSuite can be used now; None while it cannot."""
    current = status.get("observedGeneration") == meta.get("generation")
    ready = any(
        each["type"] == READY and each["status"] == Truth.TRUE
        for each in status.get("conditions") or ()
    )
    return status.get("hash") if current and ready and "deletionTimestamp" not in meta else None


def has_to_be_sent(meta: Mapping[str, Any], status: Status) -> bool:
    """Tell whether the content of a BiasSuite may not be what the gateway has."""
    return offered_hash(meta, status) is None


def suite_status(
    meta: Mapping[str, Any], status: Status, seen: SeenSuite, at: datetime
) -> dict[str, Any]:
    """Return the status of a BiasSuite that the gateway has."""
    said = f"The suite {seen.name} has {seen.probes} probes."
    if seen.purged:
        said += " Texts of it were purged."
    return {
        "observedGeneration": meta.get("generation"),
        "hash": seen.hash,
        "suite": seen.name,
        "probes": seen.probes,
        "conditions": merged(
            status, [ResourceCondition(READY, Truth.TRUE, "Stored", said)], at
        ),
    }  # fmt: skip
