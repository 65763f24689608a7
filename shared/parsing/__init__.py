"""Readers of texts: choices, ratings, yes or no, JSON, reasoning."""

from biaswatch.shared.parsing.choices import choice_in, reasoning_in, sentences_in
from biaswatch.shared.parsing.json_objects import Unreadable, json_in, objects_in, texts_in
from biaswatch.shared.parsing.ratings import rating_in
from biaswatch.shared.parsing.yes_no import yes_or_no_in

__all__ = [
    "Unreadable",
    "choice_in",
    "json_in",
    "objects_in",
    "rating_in",
    "reasoning_in",
    "sentences_in",
    "texts_in",
    "yes_or_no_in",
]
