"""Krippendorff's alpha: agreement of judges on scores, corrected for chance."""

from collections.abc import Sequence


def krippendorff_alpha(units: Sequence[Sequence[float | None]]) -> tuple[float | None, str | None]:
    """Return alpha for interval data, or None and the reason why it is undefined.

    Parameters
    ----------
    units
        For each thing that was judged, the scores it got; None where a judge gave none. Which
        judge gave which score does not matter, and units with fewer than two scores are left out.

    Returns
    -------
    tuple
        alpha = 1 - observed / expected disagreement, with squared differences: 1 is perfect, 0 is
        chance, less than 0 is worse than chance. Undefined where nothing was judged twice, or
        where all scores are equal: agreement that could not have failed proves nothing.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability. The test is its example.
    """
    scores = [[score for score in unit if score is not None] for unit in units]
    scores = [unit for unit in scores if len(unit) > 1]
    if not scores:
        return None, "nothing was scored twice"
    values = [score for unit in scores for score in unit]
    if len(set(values)) == 1:
        return None, "all scores are equal, so that chance could give nothing else"
    observed = sum(_disagreement(unit) / (len(unit) - 1) for unit in scores) / len(values)
    expected = _disagreement(values) / (len(values) * (len(values) - 1))
    return 1 - observed / expected, None


def _disagreement(scores: Sequence[float]) -> float:
    """Return the squared differences of all ordered pairs: 2 n sum of squares about the mean."""
    mean = sum(scores) / len(scores)
    return 2 * len(scores) * sum((score - mean) ** 2 for score in scores)
