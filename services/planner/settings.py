"""The settings of the planner."""

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class PlannerSettings(Settings):
    """The planner's own settings, beside those of every service."""

    planner_deadline_s: float = Field(default=24 * 3600, gt=0)
    """How long a run waits for its features; then it closes with those that have arrived."""
    planner_reconcile_s: float = Field(default=30, gt=0)
    """How long nothing may arrive for a run before what is missing is published again."""
    planner_look_s: float = Field(default=1.0, gt=0)
    """How often the schedule of monitors is read."""
    planner_clock_skew_s: float = Field(default=1.0, ge=0)
    """How far the clocks of gateways may be behind the planner's: a window of traffic is read so
    much later, so that what they take in in time is stamped so and counted."""
