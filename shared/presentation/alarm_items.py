"""Alarms as work items: what people did with each, from the audit trail."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from biaswatch.shared.contracts import AuditAction, AuditEntry
from biaswatch.shared.errors import UsageError

MAX_SILENCE = timedelta(days=7)

OUTCOMES = {
    "true": "true: the disparity is real",
    "false": "false: no disparity exists",
    "accepted": "accepted: it is real and known",
}
"""How an alarm may be resolved."""
STEPS = {
    "acknowledge": AuditAction.ALARM_ACKNOWLEDGE,
    "assign": AuditAction.ALARM_ASSIGN,
    "note": AuditAction.ALARM_NOTE,
    "resolve": AuditAction.ALARM_RESOLVE,
    "silence": AuditAction.ALARM_SILENCE,
    "end-silence": AuditAction.ALARM_SILENCE,
}
"""Steps of people with an alarm, by the last part of the address."""


@dataclass(frozen=True)
class AlarmItem:
    """The state of an alarm among people, and how it came about."""

    state: str
    """open, acknowledged, or how it was resolved."""
    assignee: str
    history: Sequence[tuple[str, AuditEntry]]
    """Each step in words, the latest first."""
    outcome: str = ""
    """A key of `OUTCOMES`, or empty."""
    silent_until: datetime | None = None
    """Until when channels get no message about its comparison."""

    def in_words(self, now: datetime) -> str:
        """Return what people did with the alarm; empty while it is open."""
        parts = [self.state] if self.state != "open" else []
        if self.assignee:
            parts.append(f"assigned to {self.assignee}")
        if self.silent_until and self.silent_until > now:
            parts.append(f"silenced until {self.silent_until:%Y-%m-%d %H:%M} UTC")
        return ", ".join(parts)


def alarm_item(entries: Sequence[AuditEntry]) -> AlarmItem:
    """Return the work item of an alarm, from its entries, the latest first."""
    states = (AuditAction.ALARM_ACKNOWLEDGE, AuditAction.ALARM_RESOLVE)
    last = next((entry for entry in entries if entry.action in states), None)
    assigned = (e.details["assignee"] for e in entries if e.action is AuditAction.ALARM_ASSIGN)
    outcome = last.details.get("outcome", "") if last else ""
    state = "open" if last is None else f"resolved, {outcome}" if outcome else "acknowledged"
    history = [(_words(entry), entry) for entry in entries]
    silence = next(iter(silences(entries).values()), None)
    return AlarmItem(state, next(assigned, ""), history, outcome, silence)


def silences(
    entries: Iterable[AuditEntry], comparisons: Mapping[str, str] | None = None
) -> dict[str, datetime]:
    """Return until when each alarm or comparison is silenced, by its latest entry.

    Parameters
    ----------
    entries
        Entries of the audit trail, the latest first.
    comparisons
        Comparisons by the ids of their alarms; without them, each alarm counts by itself.
    """
    until: dict[str, datetime] = {}
    for entry in entries:
        if entry.action is AuditAction.ALARM_SILENCE:
            key = (comparisons or {}).get(entry.subject, entry.subject)
            until.setdefault(key, datetime.fromisoformat(entry.details["until"]))
    return until


def silence_end(text: str, now: datetime) -> datetime:
    """Return the end of a silence, in UTC unless it has a time zone.

    Raises
    ------
    UsageError
        The text is not a time, has passed, or lies beyond a week: older alarms are never sent.
    """
    try:
        end = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError("Write the end of the silence as 2026-01-31T12:00, in UTC.") from None
    end = end if end.tzinfo else end.replace(tzinfo=UTC)
    if not now < end <= now + MAX_SILENCE:
        raise UsageError(f"A silence ends within {MAX_SILENCE.days} days from now.")
    return end


def _words(entry: AuditEntry) -> str:
    """Return a step with an alarm in words, with its note."""
    note = entry.details.get("note", "")
    match entry.action:
        case AuditAction.ALARM_ASSIGN:
            words = f"assigned to {entry.details['assignee']}"
        case AuditAction.ALARM_RESOLVE:
            words = f"resolved as {entry.details['outcome']}"
        case AuditAction.ALARM_SILENCE:
            until = datetime.fromisoformat(entry.details["until"])
            words = (
                f"silenced until {until:%Y-%m-%dT%H:%M}" if until > entry.at else "silence ended"
            )
        case AuditAction.ALARM_NOTE:
            words = "noted"
        case _:
            words = "acknowledged"
    return f"{words}: {note}" if note else words


def reliability(items: Iterable[AlarmItem]) -> str:
    """Return how many resolved alarms were right, in a sentence; "" before any is resolved."""
    outcomes = Counter(item.outcome for item in items if item.outcome)
    total = outcomes.total()
    if not total:
        return ""
    real = outcomes["true"] + outcomes["accepted"]
    share = round(100 * real / total)
    return (
        f"Of {total} resolved alarm{'' if total == 1 else 's'}, {real} ({share} %) were real"
        f" ({outcomes['accepted']} of them accepted) and {outcomes['false']} false."
    )
