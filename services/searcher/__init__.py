"""Decides what searches ask next: closes rounds, plans the next ones, ends searches.

Reads the store; writes suites, runs and rounds of searches.
"""
