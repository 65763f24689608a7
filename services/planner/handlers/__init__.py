"""The I/O of the planner."""
