"""Pairs of answers become verdicts.

Reads completions, and takes the run's answered pairs from the store; asks judges, by probes like
any other, whether each reasoning fits its question; reads their responses; writes verdicts.
"""
