"""Plans of runs and monitors: the size that finds a gap, and its cost."""
