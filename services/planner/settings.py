"""The planner's knobs."""

from pydantic import Field

from shared.runtime.settings import Settings


class PlannerSettings(Settings):
    """What can be set on the planner, beyond what every service has."""

    planner_deadline_s: float = Field(default=24 * 3600, gt=0)
    """How long a run waits for what it expects; then it closes with what is there."""
    planner_reconcile_s: float = Field(default=30, gt=0)
    """How long nothing may arrive before what is missing is published again."""
    planner_look_s: float = Field(default=1.0, gt=0)
    """How often the schedule of monitors is looked at."""
