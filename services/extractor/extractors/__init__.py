"""Built-in extractors: the module of each, which is imported when the extractor is loaded.

The mapping EXTRACTORS of that module has the extractor, or a function that builds it.
"""

from collections.abc import Mapping

MODULES: Mapping[str, str] = {
    "choice": "choice",
    "embedding_distance": "embedding_distance",
    "hedging": "lexical",
    "length": "lexical",
    "likelihood": "likelihood",
    "personality": "classifiers",
    "profanity": "lexical",
    "ranking": "ranking",
    "rating": "rating",
    "readability": "lexical",
    "refusal": "lexical",
    "regard": "classifiers",
    "sentiment": "classifiers",
    "stereotype": "classifiers",
    "toxicity": "classifiers",
    "toxicity_junglelee": "classifiers",
    "vader": "vader",
    "words": "lexical",
}
NEED_MODELS = frozenset({"classifiers", "embedding_distance"})
"""Modules whose extractors need the `models` extra."""
