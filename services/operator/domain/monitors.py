"""A BiasMonitor: what it asks for, what has to be done, and what is told of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from biaswatch.services.operator.domain.conditions import (
    READY,
    ResourceCondition,
    ResourceEvent,
    Status,
    Truth,
    merged,
    moment,
)
from biaswatch.services.operator.domain.gateway_replies import SeenEvidence, SeenMonitor
from biaswatch.services.operator.domain.suites import suite_hash_of
from biaswatch.shared.contracts import TRAFFIC, Alarm, derived_id, standing_of
from biaswatch.shared.formatting import VERDICT_WORDS, interval

ALARMING, OVERDUE = "Alarming", "Overdue"
OVERDUE_AFTER = timedelta(hours=1)
"""How late a round is before anybody is told; the alert BiasMonitorOverdue waits as long."""
NOT_SENT = {"suite", "paused", "name"}
"""Fields of the spec that are not those of a monitor's file."""


class MonitorAct(StrEnum):
    """What the gateway is asked for."""

    APPLY = "apply"
    PAUSE = "pause"
    RESUME = "resume"


@dataclass(frozen=True)
class WantedMonitor:
    """The monitor that a resource asks for."""

    name: str
    file: dict[str, Any]
    """What `biaswatch monitor apply` would send."""
    paused: bool

    @property
    def fingerprint(self) -> str:
        """What changes with the file, the suite among it."""
        return derived_id("applied", self.file)


def monitor_name(meta: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """Return the name that the gateway knows the monitor by."""
    return str(spec.get("name") or meta["name"])


def wanted_monitor(
    meta: Mapping[str, Any], spec: Mapping[str, Any], suites: Mapping[str, str]
) -> WantedMonitor:
    """Return the monitor that a resource asks for; `suites` has hashes by BiasSuite.

    Raises
    ------
    SuiteNotReadyError
        Its suite is not there yet.
    """
    name = monitor_name(meta, spec)
    file = {"name": name, **{key: spec[key] for key in spec if key not in NOT_SENT}}
    if not str(spec.get("target", "")).startswith(f"{TRAFFIC}:"):
        file["suite_hash"] = suite_hash_of(spec, suites, str(meta.get("namespace")))
    return WantedMonitor(name, file, paused=bool(spec.get("paused")))


def decide(wanted: WantedMonitor, seen: SeenMonitor | None, status: Status) -> list[MonitorAct]:
    """Return what has to be asked for, in this order.

    A monitor that is paused is never applied: applying one begins it. Its changes count when it
    goes on.
    """
    if wanted.paused:
        running = seen is not None and seen.stand.state == "active"
        return [MonitorAct.PAUSE] if running else []
    applied = (
        seen is not None
        and status.get("applied") == wanted.fingerprint
        and status.get("monitorId") == seen.stand.monitor_id
    )
    if not applied:
        return [MonitorAct.APPLY]
    return [MonitorAct.RESUME] if seen is not None and seen.stand.state == "paused" else []


def is_owner(meta: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether a resource is the one that a name belongs to: the oldest that is not deleted."""
    living = [each for each in (*others, meta) if not each.get("deletionTimestamp")]
    first = min(living, key=lambda each: (each["creationTimestamp"], each["uid"]), default=meta)
    return bool(first["uid"] == meta["uid"])


def monitor_conditions(seen: SeenMonitor, at: datetime) -> list[ResourceCondition]:
    """Return whether a monitor alarms and whether it is late."""
    alarms = list(standing_of(seen.alarms).values())
    words = " ".join(sorted(alarm_words(each) for each in alarms))
    quiet = "No alarm stands." if seen.stand.rounds else "No round has closed yet."
    reason = "AlarmStands" if alarms else "Quiet"
    alarming = ResourceCondition(ALARMING, Truth.of(bool(alarms)), reason, words or quiet)
    if not alarms and _is_unmeasured(seen):
        nothing = "Rounds have closed, but no comparison has a gap: nothing was measured."
        alarming = ResourceCondition(ALARMING, Truth.UNKNOWN, "NotMeasured", nothing)
    return [alarming, _overdue(seen.stand.next_round_at, at)]


def _is_unmeasured(seen: SeenMonitor) -> bool:
    """Tell whether rounds have closed and none of them measured any gap."""
    gaps = [evidence.gap.value for evidence in seen.evidence]
    return bool(seen.stand.rounds and gaps) and all(gap is None for gap in gaps)


def _overdue(due: datetime | None, at: datetime) -> ResourceCondition:
    if due is None or at - due <= OVERDUE_AFTER:
        return ResourceCondition(OVERDUE, Truth.FALSE, "OnTime")
    said = f"A round has been due since {due:%Y-%m-%d %H:%M} UTC and has not begun."
    return ResourceCondition(OVERDUE, Truth.TRUE, "RoundOverdue", said)


def ready_condition(seen: SeenMonitor) -> ResourceCondition:
    """Return how a monitor that the gateway has is."""
    if seen.stand.state == "ended":
        return ResourceCondition(READY, Truth.TRUE, "Ended", str(seen.stand.ended))
    if seen.stand.state == "paused":
        return ResourceCondition(READY, Truth.TRUE, "Paused", "It asks nothing while it is paused.")
    return ResourceCondition(READY, Truth.TRUE, "Watching", "The gateway has it as it is here.")


def alarm_events(status: Status, seen: SeenMonitor) -> list[ResourceEvent]:
    """Return an event for every alarm that the status does not know, and for each that is over."""
    known = {each["id"]: each for each in status.get("alarms") or ()}
    standing = {each.id: each for each in standing_of(seen.alarms).values()}
    raised = [
        ResourceEvent("Alarm", alarm_words(each), warning=True)
        for key, each in standing.items()
        if key not in known
    ]
    over = [
        ResourceEvent("AlarmCleared", f"The alarm of {each['comparison']} is over.")
        for key, each in known.items()
        if key not in standing
    ]
    return raised + over


def alarm_words(alarm: Alarm) -> str:
    """Return an alarm in a sentence."""
    return alarm.words or alarm.reason


def monitor_status(
    meta: Mapping[str, Any],
    status: Status,
    seen: SeenMonitor,
    conditions: Iterable[ResourceCondition],
    at: datetime,
) -> dict[str, Any]:
    """Return the status of a BiasMonitor, as far as the gateway has one; what is unknown is out."""
    stand, first = seen.stand, _strongest(seen.evidence)
    alarms = sorted(standing_of(seen.alarms).values(), key=lambda each: (each.at, each.id))
    said = {
        "observedGeneration": meta.get("generation"),
        "applied": status.get("applied"),
        "suiteHash": status.get("suiteHash"),
        "notes": status.get("notes"),
        "monitorId": stand.monitor_id,
        "state": stand.state,
        "rounds": stand.rounds,
        "since": moment(alarms[0].at if alarms else stand.since),
        "lastRound": stand.last_round_at and moment(stand.last_round_at),
        "nextRound": stand.next_round_at and moment(stand.next_round_at),
        "alarms": [
            {
                "id": each.id,
                "comparison": each.comparison_key,
                "what": each.what.value,
                "since": moment(each.at),
                "words": alarm_words(each),
            }
            for each in alarms
        ],
        "conditions": merged(status, conditions, at),
    }
    if first is not None:
        gap = first.gap
        said |= {
            "verdict": first.verdict.value,
            "gap": interval(gap.value, gap.low, gap.high, gap.reason),
            "comparison": first.title or first.comparison,
        }
    return {name: value for name, value in said.items() if value is not None}


def _strongest(evidence: Iterable[SeenEvidence]) -> SeenEvidence | None:
    """Return the comparison to show first: what is decided, then what is nearest to an alarm."""
    order = list(VERDICT_WORDS)
    return min(evidence, key=lambda each: (order.index(each.verdict), -each.share), default=None)
