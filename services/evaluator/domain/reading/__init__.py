"""Reports written elsewhere: their numbers are checked, their statements listed."""
