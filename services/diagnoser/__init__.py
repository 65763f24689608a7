"""Closed runs and rounds become statistics.

Reads completions; takes the features of the run or round from the store; writes diagnoses, and for
a monitor the increment of evidence of the round.
"""
