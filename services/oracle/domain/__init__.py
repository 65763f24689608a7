"""Pairs, questions to judges and verdicts."""
