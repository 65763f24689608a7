"""The chain of the audit trail: every edit, gap and cut is found, and nothing else is."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from biaswatch.shared.contracts.audit import AuditEntry, faults_of, next_entry
from tests.support.records import AT, make_act

Edit = Callable[[list[AuditEntry]], None]
LONG = 6


def trail_of(length: int, *, actor: str = "anna") -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    for number in range(length):
        last = entries[-1] if entries else None
        act = make_act(actor=actor, subject=f"monitor-{number}")
        entries.append(next_entry(act, last, AT + timedelta(seconds=number)))
    return entries


def anchors_of(entries: list[AuditEntry]) -> list[tuple[int, str]]:
    return [(entry.number, entry.hash) for entry in entries]


def changed(entry: AuditEntry, *, hashed: bool = False, **fields: object) -> AuditEntry:
    edited = entry.model_copy(update=fields)
    return edited.model_copy(update={"hash": edited.computed_hash()}) if hashed else edited


def edit_one(entries: list[AuditEntry]) -> None:
    entries[2] = changed(entries[2], actor="somebody")


def edit_one_and_its_hash(entries: list[AuditEntry]) -> None:
    entries[2] = changed(entries[2], hashed=True, actor="somebody")


def move_one_in_time(entries: list[AuditEntry]) -> None:
    entries[2] = changed(entries[2], at=AT)


def delete_in_the_middle(entries: list[AuditEntry]) -> None:
    del entries[2]


def delete_and_number_anew(entries: list[AuditEntry]) -> None:
    del entries[2]
    for place, entry in enumerate(entries, 1):
        entries[place - 1] = changed(entry, hashed=True, number=place)


def delete_the_first(entries: list[AuditEntry]) -> None:
    del entries[0]


def swap_two(entries: list[AuditEntry]) -> None:
    entries[2], entries[3] = entries[3], entries[2]


@pytest.mark.parametrize(
    "edit",
    [
        edit_one, edit_one_and_its_hash, move_one_in_time, delete_in_the_middle,
        delete_and_number_anew, delete_the_first, swap_two,
    ],
)  # fmt: skip
def test_an_edit_is_found_by_the_chain_alone(edit: Edit) -> None:
    entries = trail_of(LONG)
    assert faults_of(entries, []) == []
    edit(entries)
    assert faults_of(entries, [])


@pytest.mark.parametrize(
    ("order", "fault"),
    [
        ([1, 2, 4, 5], "Entry 3 is gone."),
        ([1, 2, 5], "Entries 3 to 4 are gone."),
        ([1, 2, 2, 3], "It follows entry 2: it is repeated or out of order."),
    ],
)
def test_lost_and_repeated_entries_are_named(order: list[int], fault: str) -> None:
    entries = trail_of(LONG)
    faults = faults_of([entries[number - 1] for number in order], [])
    assert fault in [item.what for item in faults]


@pytest.mark.parametrize("left", [0, 1, LONG - 1])
def test_a_cut_end_is_found_by_an_anchor_and_not_without(left: int) -> None:
    entries = trail_of(LONG)
    assert faults_of(entries[:left], []) == []
    [fault] = faults_of(entries[:left], anchors_of(entries)[-1:])
    assert fault.number == left + 1
    assert f"knows of {LONG}" in fault.what


def test_a_chain_that_was_computed_anew_is_found_by_any_older_anchor() -> None:
    entries, forged = trail_of(LONG), trail_of(LONG + 3, actor="nobody")
    assert faults_of(forged, []) == []
    for anchor in anchors_of(entries):
        [fault] = faults_of(forged, [anchor])
        assert fault.number == anchor[0]


def test_two_anchors_that_contradict_each_other_are_found() -> None:
    entries, forged = trail_of(LONG), trail_of(LONG, actor="nobody")
    # Who forged the trail let the platform anchor the forgery: both anchors are there.
    assert faults_of(forged, [*anchors_of(entries), *anchors_of(forged)])


def test_a_trail_with_every_anchor_is_sound_however_often_they_were_written() -> None:
    entries = trail_of(LONG)
    assert faults_of(entries, anchors_of(entries) * 2) == []
    assert faults_of([], []) == []
