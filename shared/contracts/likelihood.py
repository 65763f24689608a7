"""Answers that are scored instead of written, and the features read from their probabilities."""

from collections.abc import Mapping

from biaswatch.shared.contracts.identity import Name
from biaswatch.shared.contracts.record import Part

LIKELIHOOD = "likelihood"
"""The scaffold, and the extractor. Its numbers are not drawn: a repeat has the same ones."""
SHARES = ("entropy", "mass", "p_chosen", "p_correct", "p_correct_calibrated", "p_first")
RATINGS = ("expected_rating", "expected_rating_calibrated")
PREFERENCES = ("preference", "preference_calibrated", "preference_per_token")
FEATURES = (*SHARES, *RATINGS, *PREFERENCES)

Ranges = Mapping[str, tuple[float, float]]


class ScoredOption(Part):
    """An answer that the target scored."""

    name: Name
    """The option, or the name of the continuation."""
    logprobs: tuple[float, ...]
    """The log-probability of each of its tokens; of an option, one in all."""
    neutral_logprobs: tuple[float, ...] = ()
    """The same in a neutral context; empty without one."""


def ranges_with_likelihoods(declared: Ranges) -> Ranges:
    """Add the ranges of these features: shares lie in [0, 1], ratings on the declared scale.

    Examples
    --------
    >>> ranges_with_likelihoods({"rating": (1, 5)})["expected_rating"]
    (1, 5)
    """
    scale = declared.get("rating")
    ratings = dict.fromkeys(RATINGS, scale) if scale else {}
    return {**dict.fromkeys(SHARES, (0.0, 1.0)), **ratings, **declared}
