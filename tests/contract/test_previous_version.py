"""Services of this version and of the one before run beside each other during an upgrade."""

import json
from pathlib import Path
from typing import Any

import pytest

from biaswatch.shared.contracts import record_of

SAMPLES = sorted(
    (Path(__file__).parents[2] / "shared" / "contracts" / "samples").glob("*.json")
)  # fmt: skip
"""A record of each kind, as the version that introduced it wrote it."""


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_nothing_that_the_version_before_wrote_is_dropped(path: Path) -> None:
    sample = json.loads(path.read_text())
    kept = json.loads(record_of(path.name.split(".")[0]).decode(path.read_bytes()).encode())
    assert dropped(sample, kept) == []


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_a_field_of_the_next_version_is_no_obstacle(path: Path) -> None:
    """A reader of ours must do as the version before does: take what it knows, and go on."""
    kind, sample = record_of(path.name.split(".")[0]), json.loads(path.read_text())
    later = json.dumps(with_later_fields(sample)).encode()
    assert kind.decode(later).id == sample["id"]


def dropped(before: Any, after: Any, where: str = "") -> list[str]:
    """Return the places of values that are not the same any more; an empty one may be left out."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            item
            for key, value in before.items()
            if key in after or value not in (None, [], {}, "", False, 0)
            for item in dropped(value, after.get(key), f"{where}.{key}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = zip(before, after, strict=True)
        return [item for one, other in pairs for item in dropped(one, other, f"{where}[]")]
    return [] if before == after else [where]


def with_later_fields(sample: dict[str, Any]) -> dict[str, Any]:
    """Add a field that no version knows to a record."""
    return {**sample, "added_by_the_next_version": {"anything": [1, "two"]}}
