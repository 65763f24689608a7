"""The settings of the planner."""

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class PlannerSettings(Settings):
    """Settings of the planner, in addition to those of every service."""

    planner_deadline_s: float = Field(default=24 * 3600, gt=0)
    """How long a run waits for its features before it closes with those that have arrived."""
    planner_reconcile_s: float = Field(default=30, gt=0)
    """How long nothing may arrive for a run before missing records are published again."""
    planner_look_s: float = Field(default=1.0, gt=0)
    """How often the schedule of monitors is read."""
    planner_clock_skew_s: float = Field(default=1.0, ge=0)
    """How far the clocks of gateways may be behind the planner's. A window of traffic is read that
    much later, so that answers with a time before its end are counted."""
