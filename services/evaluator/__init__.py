"""Reports become scores.

Reads reports; asks a judge model for a score on every dimension of the rubric; writes scores.
"""
