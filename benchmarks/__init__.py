"""Ratios of speed, measured in one run."""
