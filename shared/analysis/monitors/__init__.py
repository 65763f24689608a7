"""Evidence of monitors: the increment of a closed round, the sum of all, and alarms."""
