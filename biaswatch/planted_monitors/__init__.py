"""Simulation of monitors: planted cases, runs on a whole platform, rows of results."""
