"""The platform as a whole: what alarms, what changed, what is overdue, what waits for a person."""
