"""Limits of sequential tests; importing them loads no library."""

MAX_LOOKS = 1000
"""Looks that a sequential test may declare."""
MAX_LOG_ODDS = 4.0
"""An odds ratio of 55: evidence is computed up to it."""
