"""Expected ratings, probabilities and preferences from the log-probabilities of scored answers."""

from collections.abc import Mapping, Sequence
from math import exp, fsum, log
from statistics import fmean

from biaswatch.services.extractor.domain import Extractor, Reading, ReadingExtractor, Unscorable
from biaswatch.shared.contracts.likelihood import FEATURES, LIKELIHOOD


def _measure(reading: Reading) -> Mapping[str, float | None]:
    """Return the features; raise Unscorable where the target scored nothing."""
    if not reading.scored:
        raise Unscorable("no answer was scored")
    names = [option.name for option in reading.scored]
    own = [option.logprobs for option in reading.scored]
    neutral = [option.neutral_logprobs for option in reading.scored]
    totals = [fsum(row) for row in own]
    free = [
        total - fsum(row) for total, row in zip(totals, neutral, strict=True) if row
    ]  # after Zhao et al. (2021): divided by the probability in a neutral context
    shares, calibrated = _shares(totals), _shares(free)
    return {
        "entropy": _entropy(shares),
        "mass": min(1.0, fsum(map(exp, totals))),
        "p_chosen": max(shares),
        "p_correct": _of(reading.expected, names, shares),
        "p_correct_calibrated": _of(reading.expected, names, calibrated),
        "p_first": shares[0],
        "expected_rating": _expected(names, shares),
        "expected_rating_calibrated": _expected(names, calibrated),
        "preference": _difference(totals),
        "preference_calibrated": _difference(free),
        "preference_per_token": _difference([fmean(row) for row in own]),
    }


def _shares(totals: Sequence[float]) -> list[float]:
    """Return probabilities that add up to 1."""
    most = max(totals, default=0.0)
    weights = [exp(total - most) for total in totals]
    return [weight / fsum(weights) for weight in weights]


def _entropy(shares: Sequence[float]) -> float:
    """Return the entropy as a share of the largest possible."""
    entropy = -fsum(share * log(share) for share in shares if share)
    return min(1.0, max(0.0, entropy / log(len(shares))))


def _of(expected: str | None, names: Sequence[str], shares: Sequence[float]) -> float | None:
    return dict(zip(names, shares, strict=False)).get(expected.strip()) if expected else None


def _expected(names: Sequence[str], shares: Sequence[float]) -> float | None:
    try:
        ratings = [float(name) for name in names]
    except ValueError:
        return None
    if not shares:
        return None
    mean = fsum(rating * share for rating, share in zip(ratings, shares, strict=True))
    return min(max(ratings), max(min(ratings), mean))


def _difference(values: Sequence[float]) -> float | None:
    """Return the first of two values less the second; None for other numbers of values."""
    return values[0] - values[1] if len(values) == 2 else None


EXTRACTORS: Mapping[str, Extractor] = {
    LIKELIHOOD: ReadingExtractor(
        LIKELIHOOD,
        "1",
        FEATURES,
        "log-probabilities of given answers; no model of its own",
        _measure,
    )
}
