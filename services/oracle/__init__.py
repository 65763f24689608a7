"""Pairs of answers become verdicts.

Reads answered pairs; asks a judge model whether each reasoning fits its question; writes verdicts.
"""
