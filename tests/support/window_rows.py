"""Answers of a window of traffic, one by one, as the columns that the diagnoser counts."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO

import numpy as np

from biaswatch.shared.analysis.monitors.round_answers import Values
from biaswatch.shared.analysis.monitors.traffic import Entrants
from biaswatch.shared.analysis.monitors.window_columns import WindowColumns
from biaswatch.shared.analysis.monitors.window_writing import (
    EPOCH,
    MemberReading,
    WindowAnswer,
    WindowWriter,
)
from biaswatch.shared.contracts import Comparison, MonitorPlan, Traffic
from biaswatch.shared.stats.arrays import Bools
from tests.support.records import make_traffic_monitor


@dataclass(frozen=True, slots=True)
class TrafficAnswer:
    """One production answer as measured by one extractor."""

    key: str
    user: str | None
    groups: Mapping[str, str]
    extractor: str
    values: Values
    unscorable: str | None = None
    answered_at: datetime = EPOCH
    facts: Mapping[str, str] = field(default_factory=dict)
    response_id: str = ""
    has_text: bool = True
    measured: bool = True


def plan_of(comparison: Comparison, traffic: Traffic | None = None) -> MonitorPlan:
    """Return the plan of a monitor that watches one comparison."""
    plan, watched = make_traffic_monitor().plan, {"features": (comparison.watched,)}
    return plan.model_copy(
        update={**watched, "comparisons": (comparison.pair,), "traffic": traffic or plan.traffic}
    )


def columns_of(plan: MonitorPlan, answers: Iterable[TrafficAnswer]) -> WindowColumns:
    """Return answers as columns; the files are in memory."""
    there = list(answers)
    writer = WindowWriter(plan, BytesIO, {item.extractor for item in there})
    writer.add([_answer(item) for item in there])
    return writer.columns()


def _answer(given: TrafficAnswer) -> WindowAnswer:
    return WindowAnswer(
        key=given.key,
        user=given.user,
        groups=given.groups,
        readings={given.extractor: MemberReading(given.values, given.unscorable)}
        if given.measured
        else {},
        has_text=given.has_text,
        answered_at=given.answered_at,
        facts=given.facts,
        response_id=given.response_id,
    )


def names_of(window: WindowColumns) -> list[str]:
    """Return the users' names, in the order of their codes."""
    return [window.name(user) for user in range(window.users)]


def entrants_of(
    window: WindowColumns, new: Collection[str], mixed: Collection[str] = ()
) -> Entrants:
    """Return who may enter by name."""
    names = names_of(window)
    enters = np.array([name in new for name in names], dtype=np.bool_)
    return Entrants(enters, ~enters, np.array([name in mixed for name in names], dtype=np.bool_))


def named(window: WindowColumns, rows: Bools, answers: Iterable[TrafficAnswer]) -> set[str]:
    """Return the keys of some rows of a window that was made of these answers."""
    keys = [answer.key for answer in answers]
    return {keys[place] for place in window.members[rows].tolist()}
