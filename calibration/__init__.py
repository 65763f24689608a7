"""Simulation studies of how often verdicts and monitors err, and what they find."""
