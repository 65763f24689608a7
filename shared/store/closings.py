"""What is told of a gather that has closed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from biaswatch.shared.contracts import FOLLOWED_UP_FOR, ClosedBy, GatherState


@dataclass(frozen=True)
class Closing:
    """A closed gather: what was expected, and how much of it arrived."""

    stage: str
    key: str
    context: Mapping[str, JsonValue]
    expected: int
    arrived: int
    closed_by: ClosedBy
    closed_at: datetime
    opening: int
    """How often the gather was reopened."""


def closing_of(row: Mapping[str, Any]) -> Closing:
    """Return the closing of a gather from its row."""
    read = {"context": json.loads(row["context"]), "closed_by": ClosedBy(row["closed_by"])}
    return Closing(**{each.name: row[each.name] for each in fields(Closing)} | read)


def state_of_row(row: Mapping[Any, Any]) -> GatherState:
    """Return the state of a gather from its row.

    One that was given up without all that follows from it is noted later than what was found.
    """
    closed_by = ClosedBy(row["closed_by"]) if row["closed_by"] else None
    closed_at, noted_at = row["closed_at"], row["recorded_at"]
    followed_up = noted_at is not None and noted_at <= closed_at + FOLLOWED_UP_FOR
    return GatherState(row["expected"], row["arrived"], row["opening"], closed_by, followed_up)
