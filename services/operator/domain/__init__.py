"""Wanted and actual state of resources; no I/O."""
