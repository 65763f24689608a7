"""A BiasMonitor: its file, the changes that it needs, its conditions and its status."""

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
from biaswatch.services.operator.domain.suites import suite_hash_of
from biaswatch.shared.contracts import TRAFFIC, Alarm, derived_id, open_alarms_of
from biaswatch.shared.formatting import VERDICT_WORDS, interval
from biaswatch.shared.presentation.questions import GROUP_EFFECT, TWINS, evidence_note
from biaswatch.shared.requests.evidence import EvidenceView
from biaswatch.shared.requests.monitor_views import MonitorView

ALARMING, OVERDUE = "Alarming", "Overdue"
OVERDUE_AFTER = timedelta(hours=1)
"""Delay of a round that counts as overdue, as in the alert BiasMonitorOverdue."""
RESOURCE_FIELDS = {"suite", "paused", "name"}
"""Fields of the spec that are not those of a monitor's file."""


class MonitorAct(StrEnum):
    """A request to the gateway."""

    APPLY = "apply"
    PAUSE = "pause"
    RESUME = "resume"


@dataclass(frozen=True)
class WantedMonitor:
    """The monitor that a resource declares."""

    name: str
    file: dict[str, Any]
    """The request of `biaswatch monitor apply`."""
    paused: bool

    @property
    def fingerprint(self) -> str:
        """A hash of the file, including the suite."""
        return derived_id("applied", self.file)


def monitor_name(meta: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """Return the name of the monitor in the gateway."""
    return str(spec.get("name") or meta["name"])


def wanted_monitor(
    meta: Mapping[str, Any], spec: Mapping[str, Any], suites: Mapping[str, str]
) -> WantedMonitor:
    """Return the monitor that a resource declares; `suites` has hashes by BiasSuite.

    Raises
    ------
    SuiteNotReadyError
        Its suite does not exist yet.
    """
    name = monitor_name(meta, spec)
    file = {"name": name, **{key: spec[key] for key in spec if key not in RESOURCE_FIELDS}}
    if not str(spec.get("target", "")).startswith(f"{TRAFFIC}:"):
        file["suite_hash"] = suite_hash_of(spec, suites, str(meta.get("namespace")))
    return WantedMonitor(name, file, paused=bool(spec.get("paused")))


def decide(wanted: WantedMonitor, view: MonitorView | None, status: Status) -> list[MonitorAct]:
    """Return the requests that are needed, in their order.

    A paused monitor is never applied, because applying one begins it. Its changes take effect when
    it is resumed.
    """
    if wanted.paused:
        running = view is not None and view.status.state == "active"
        return [MonitorAct.PAUSE] if running else []
    applied = (
        view is not None
        and status.get("applied") == wanted.fingerprint
        and status.get("monitorId") == view.status.monitor_id
    )
    if not applied:
        return [MonitorAct.APPLY]
    return [MonitorAct.RESUME] if view is not None and view.status.state == "paused" else []


def is_owner(meta: Mapping[str, Any], other_resources: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a resource owns its monitor: the oldest that is not deleted does."""
    living = [
        resource for resource in (*other_resources, meta) if not resource.get("deletionTimestamp")
    ]
    oldest = min(living, key=lambda r: (r["creationTimestamp"], r["uid"]), default=meta)
    return bool(oldest["uid"] == meta["uid"])


def monitor_conditions(view: MonitorView, at: datetime) -> list[ResourceCondition]:
    """Return whether a monitor has raised alarms, and whether it is overdue."""
    alarms = list(open_alarms_of(view.alarms).values())
    if alarms:
        message = " ".join(sorted(alarm_words(alarm) for alarm in alarms))
        alarming = ResourceCondition(ALARMING, Truth.TRUE, "AlarmStands", message)
    elif _is_unmeasured(view):
        message = "Rounds have closed, but no comparison has a gap: nothing was measured."
        alarming = ResourceCondition(ALARMING, Truth.UNKNOWN, "NotMeasured", message)
    else:
        message = "No alarm is raised." if view.status.rounds else "No round has closed yet."
        alarming = ResourceCondition(ALARMING, Truth.FALSE, "Quiet", message)
    return [alarming, _overdue(view.status.next_round_at, at)]


def _is_unmeasured(view: MonitorView) -> bool:
    """Return whether rounds have closed and none of them measured any gap."""
    gaps = [evidence.gap.value for evidence in view.evidence]
    return bool(view.status.rounds and gaps) and all(gap is None for gap in gaps)


def _overdue(due: datetime | None, at: datetime) -> ResourceCondition:
    if due is None or at - due <= OVERDUE_AFTER:
        return ResourceCondition(OVERDUE, Truth.FALSE, "OnTime")
    message = f"A round has been due since {due:%Y-%m-%d %H:%M} UTC and has not begun."
    return ResourceCondition(OVERDUE, Truth.TRUE, "RoundOverdue", message)


def ready_condition(view: MonitorView) -> ResourceCondition:
    """Return the state of a monitor that the gateway has."""
    if view.status.state == "ended":
        return ResourceCondition(READY, Truth.TRUE, "Ended", str(view.status.ended))
    if view.status.state == "paused":
        return ResourceCondition(READY, Truth.TRUE, "Paused", "It asks nothing while it is paused.")
    return ResourceCondition(READY, Truth.TRUE, "Watching", "The gateway has it as it is here.")


def alarm_events(status: Status, view: MonitorView) -> list[ResourceEvent]:
    """Return an event for each alarm that is new in the status, and for each that was cleared."""
    known = {alarm["id"]: alarm for alarm in status.get("alarms") or ()}
    raised = {alarm.id: alarm for alarm in open_alarms_of(view.alarms).values()}
    events = [
        ResourceEvent("Alarm", alarm_words(alarm), warning=True)
        for id_, alarm in raised.items()
        if id_ not in known
    ]
    events += [
        ResourceEvent("AlarmCleared", f"The alarm of {alarm['comparison']} is over.")
        for id_, alarm in known.items()
        if id_ not in raised
    ]
    return events


def alarm_words(alarm: Alarm) -> str:
    """Return an alarm in a sentence."""
    return alarm.words or alarm.reason


def monitor_status(
    meta: Mapping[str, Any],
    status: Status,
    view: MonitorView,
    conditions: Iterable[ResourceCondition],
    at: datetime,
) -> dict[str, Any]:
    """Return the status of a BiasMonitor that the gateway has, without unknown fields."""
    monitor, strongest = view.status, _strongest(view.evidence)
    alarms = sorted(open_alarms_of(view.alarms).values(), key=lambda alarm: (alarm.at, alarm.id))
    fields = {
        "observedGeneration": meta.get("generation"),
        "applied": status.get("applied"),
        "suiteHash": status.get("suiteHash"),
        "notes": status.get("notes"),
        "monitorId": monitor.monitor_id,
        "state": monitor.state,
        "rounds": monitor.rounds,
        "since": moment(alarms[0].at if alarms else monitor.since),
        "lastRound": monitor.last_round_at and moment(monitor.last_round_at),
        "nextRound": monitor.next_round_at and moment(monitor.next_round_at),
        "alarms": [
            {
                "id": alarm.id,
                "comparison": alarm.comparison_key,
                "what": alarm.what.value,
                "since": moment(alarm.at),
                "words": alarm_words(alarm),
            }
            for alarm in alarms
        ],
        "conditions": merged(status, conditions, at),
    }
    if strongest is not None:
        gap = strongest.gap
        fields |= {
            "verdict": strongest.verdict.value,
            "sameTreatment": TWINS.text(strongest, evidence_note(TWINS, strongest)),
            "groupEffect": GROUP_EFFECT.text(strongest, evidence_note(GROUP_EFFECT, strongest)),
            "about": strongest.about,
            "gap": interval(gap.value, gap.low, gap.high, gap.reason),
            "comparison": strongest.title or strongest.comparison,
        }
    return {name: value for name, value in fields.items() if value is not None}


def _strongest(evidence: Iterable[EvidenceView]) -> EvidenceView | None:
    """Return the comparison to show first: a decided one, then the one nearest to an alarm."""
    order = list(VERDICT_WORDS)

    def rank(view: EvidenceView) -> tuple[int, float]:
        share = view.log_supremum / view.bound if view.bound else 0.0
        return order.index(view.verdict), -share

    return min(evidence, key=rank, default=None)
