"""Remarks about the users of a log, and about the conclusions of a monitor from it."""

from collections.abc import Mapping, Sequence
from typing import Any

SHOWN_USERS = 3


def log_remarks(rows: Sequence[Mapping[str, Any]], dimensions: Sequence[str]) -> list[str]:
    """Return sentences about users in several groups, and about monitors of the same answers."""
    remarks = [_several_groups_remark(rows, dimension) for dimension in dimensions]
    return [remark for remark in (*remarks, _monitor_remark(rows)) if remark]


def _several_groups_remark(rows: Sequence[Mapping[str, Any]], dimension: str) -> str | None:
    """Return a remark about users in several groups; None without any."""
    groups: dict[str, set[str]] = {}
    for row in rows:
        unit, group = row.get("unit"), (row.get("groups") or {}).get(dimension)
        if unit is not None and group is not None:
            groups.setdefault(unit, set()).add(group)
    several = [unit for unit, labels in groups.items() if len(labels) > 1]
    if not several:
        return None
    shown = ", ".join(several[:SHOWN_USERS]) + (", ..." if len(several) > SHOWN_USERS else "")
    return (
        f"Users in several groups of {dimension}: {len(several)} of {len(groups)} ({shown})."
        " Each of their answers counts in its own group here; a monitor counts such users in none."
    )


def _monitor_remark(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why a monitor may conclude otherwise; None if none could read the answers."""
    if not all(row.get("unit") and row.get("at") and row.get("id") for row in rows):
        return None
    later = len(rows) - len({row["unit"] for row in rows})
    first = f" by the first answers (later ones here: {later} of {len(rows)}),"
    return (
        "`ingest --history` of this log may conclude otherwise: the evidence of a monitor holds at"
        " every look, which takes more users than one test; it has a declared tolerance, counts a"
        f" user once,{first if later else ''} and corrects over all of its comparisons."
    )
