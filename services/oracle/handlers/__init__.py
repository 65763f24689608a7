"""Asks judges and stores their verdicts."""
