"""What the planner does: runs planned and repaired, rounds of monitors begun when they are due."""

from services.planner.handlers.planning import Plans, completion_of
from services.planner.handlers.rounds import Rounds

__all__ = ["Plans", "Rounds", "completion_of"]
