"""Built-in extractors: the module of each, which is imported when the extractor is loaded.

The mapping EXTRACTORS of that module has the extractor, or a function that builds it.
"""

from collections.abc import Mapping

MODULES: Mapping[str, str] = {
    "bleu": "similarity",
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
    "recommendations": "similarity",
    "refusal": "lexical",
    "regard": "classifiers",
    "rouge_l": "similarity",
    "sentiment": "classifiers",
    "steps": "steps",
    "stereotype": "classifiers",
    "toxicity": "classifiers",
    "toxicity_junglelee": "classifiers",
    "vader": "vader",
    "vader_shares": "vader",
    "words": "lexical",
}
COMPARE_WITH_BASELINE = frozenset({"bleu", "embedding_distance", "recommendations", "rouge_l"})
"""Extractors of a text and its baseline, not of a text alone."""
