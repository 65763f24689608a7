"""Modules of extractors, by what they need."""

NEED_MODELS = frozenset({"classifiers", "embedding_distance"})
"""Modules whose extractors need the `models` extra."""
