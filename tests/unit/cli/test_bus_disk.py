"""What follows from the free space of the embedded bus's disk."""

from pathlib import Path

import pytest

from biaswatch.local.bus_disk import FULL_BYTES, LOW_BYTES, BusDisk


@pytest.mark.parametrize(
    ("seen", "restarts"),
    [
        ([LOW_BYTES, FULL_BYTES - 1, LOW_BYTES], 1),
        ([FULL_BYTES - 1, LOW_BYTES - 1, LOW_BYTES, LOW_BYTES], 1),
        ([LOW_BYTES - 1, FULL_BYTES, LOW_BYTES], 0),
        ([0, LOW_BYTES, 0, LOW_BYTES], 2),
    ],
)
def test_a_bus_is_started_again_once_a_full_disk_has_space(seen: list[int], restarts: int) -> None:
    left, done = iter(seen), []
    disk = BusDisk(Path("bus"), lambda: done.append(1), lambda: next(left))
    for _ in seen:
        disk.look()
    assert len(done) == restarts


def test_people_are_told_once_where_space_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    disk = BusDisk(Path("bus"), lambda: None, lambda: LOW_BYTES - 1)
    for _ in range(3):
        disk.look()
    assert capsys.readouterr().out.count("almost no space left on the disk of bus") == 1
