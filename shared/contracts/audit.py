"""The audit trail: who did what, when and from where, as a chain of hashes that shows any edit."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, PositiveInt, StringConstraints

from biaswatch.shared.contracts.identity import Name, Token, derived_id
from biaswatch.shared.contracts.record import Part, Record

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
FIRST = "0" * 64
"""The hash before the first entry."""


class AuditAction(StrEnum):
    """Actions of people and programs that change, start, end or remove something."""

    RUN_START = "run.start"
    RUN_CANCEL = "run.cancel"
    RUN_DESCRIBE = "run.describe"
    SEARCH_START = "search.start"
    SEARCH_CANCEL = "search.cancel"
    INTERPRETATION_START = "interpretation.start"
    MONITOR_APPLY = "monitor.apply"
    MONITOR_PAUSE = "monitor.pause"
    MONITOR_RESUME = "monitor.resume"
    MONITOR_DELETE = "monitor.delete"
    ALARM_ACKNOWLEDGE = "alarm.acknowledge"
    ALARM_ASSIGN = "alarm.assign"
    ALARM_NOTE = "alarm.note"
    ALARM_RESOLVE = "alarm.resolve"
    ALARM_SILENCE = "alarm.silence"
    LABELS_SAMPLE = "labels.sample"
    LABELS_ADD = "labels.add"
    LABELS_IMPORT = "labels.import"
    TARGET_RESUME = "target.resume"
    CHANNEL_TEST = "channel.test"
    CHANNEL_RETRY = "channel.retry"
    HISTORY_BEGIN = "history.begin"
    HISTORY_READ = "history.read"
    TEXTS_PURGE = "texts.purge"
    ANSWERS_ARCHIVE = "answers.archive"
    ANSWERS_RESTORE = "answers.restore"
    ANSWERS_EXPIRE = "answers.expire"
    DEAD_LETTER_REPLAY = "dead_letter.replay"
    DEAD_LETTER_DISCARD = "dead_letter.discard"
    KEY_CREATE = "key.create"
    TOKEN_ADD = "token.add"  # noqa: S105 - what is done, not a token
    TOKEN_REMOVE = "token.remove"  # noqa: S105 - as above


class AuditedAct(Part):
    """One act, before it has a place in the trail."""

    tenant: Token | None = None
    """Whose things it concerns; null for those of the whole platform."""
    actor: Name
    """Who: the name of a token, a person behind a proxy, a user of a machine."""
    role: Name
    """As what: the role of the token, or `operator` where no token was needed."""
    source: Name
    """From where: an address, or the machine of a command line."""
    action: AuditAction
    """The action."""
    subject: str = ""
    """To what: the id of a run, the name of a monitor, a target or a token."""
    details: dict[str, str] = {}
    """Other facts about the act; never a text of users or models, never a key."""
    failure: str | None = None
    """Why the act that an entry before this one announced did not happen."""


class AuditEntry(AuditedAct):
    """One act in the trail; its hash covers all of it and the entry before."""

    number: PositiveInt
    """Its place: 1, 2, 3, ... without gaps."""
    at: AwareDatetime
    """When it was done."""
    previous: Digest
    """The hash of the entry before."""
    hash: Digest
    """The hash of this entry."""

    def computed_hash(self) -> str:
        """Return the hash that an unchanged entry has."""
        # An edited entry need not be valid any more; its hash is computed all the same.
        content = self.model_dump(mode="json", exclude={"hash", "at"}, warnings=False)
        content["at"] = written(self.at)
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class AuditAnchor(Record):
    """The head of the audit trail, kept outside the database: how many entries, and the last hash.

    The chain alone shows an edit in the middle. Whoever may write to the database could compute it
    anew or cut off its end; the anchors on the bus and in the log tell.
    """

    kind = "audit_anchor"
    identity = ("number", "hash")

    number: PositiveInt
    """How many entries the trail has."""
    hash: Digest
    """The hash of the last one."""


@dataclass(frozen=True)
class AuditFault:
    """Something that is not as it was written."""

    number: int
    """The entry."""
    what: str
    """One sentence."""


def written(moment: datetime) -> str:
    """Return a moment as the trail writes it, so that its text sorts as time does."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def purge_subject(what: str, value: str) -> str:
    """Return what the trail says was purged: of a unit its digest alone.

    The trail is for ever, and a unit may be a user whose traces are to be gone.
    """
    return derived_id("unit", value) if what == "unit" else value


def next_entry(act: AuditedAct, last: AuditEntry | None, at: datetime) -> AuditEntry:
    """Return the entry of an act that follows the last one."""
    entry = AuditEntry(
        **act.model_dump(),
        number=last.number + 1 if last else 1,
        at=at,
        previous=last.hash if last else FIRST,
        hash=FIRST,
    )
    return entry.model_copy(update={"hash": entry.computed_hash()})


def faults_of(
    entries: Iterable[AuditEntry], anchors: Iterable[tuple[int, str]]
) -> list[AuditFault]:
    """Return what is wrong with a trail, in the order of its entries; nothing for a sound one.

    Parameters
    ----------
    entries
        All entries, by number.
    anchors
        What is known from outside the database: numbers and hashes, each number any number of
        times.
    """
    known: dict[int, set[str]] = {}
    for number, hash_ in anchors:
        known.setdefault(number, set()).add(hash_)
    last, faults = 0, []
    for number, fault in _chain_faults(entries, known):
        last = max(last, number)
        if fault:
            faults.append(AuditFault(number, fault))
    if known and (end := max(known)) > last:
        gone = _gone(last + 1, end)
        faults.append(AuditFault(last + 1, f"{gone}: an anchor knows of {end}."))
    return faults


def _chain_faults(
    entries: Iterable[AuditEntry], known: dict[int, set[str]]
) -> Iterator[tuple[int, str | None]]:
    """Return each entry's number with what is wrong of it, if anything."""
    number, head = 0, FIRST
    for entry in entries:
        if entry.number > number + 1:
            yield number + 1, f"{_gone(number + 1, entry.number - 1)}."
        elif entry.number <= number:
            yield entry.number, f"It follows entry {number}: it is repeated or out of order."
        elif entry.previous != head:
            yield entry.number, "It does not follow the entry before: one of them was changed."
        if entry.hash != entry.computed_hash():
            yield entry.number, "It was changed after it was written."
        if known.get(entry.number, {entry.hash}) != {entry.hash}:
            yield entry.number, "It is another entry than the one that was anchored."
        yield entry.number, None
        number, head = entry.number, entry.hash


def _gone(first: int, last: int) -> str:
    return f"Entry {first} is gone" if first == last else f"Entries {first} to {last} are gone"
