"""Statistics become reports, and reports become scores.

Reads briefs and the replies to its questions; has a model write the interpretation, checks it by
code, asks judge models for a score on every dimension of the rubric; writes probes and evaluations.
"""
