"""Comparators of groups that share some sets: parts joined by weights that sizes fix."""

import numpy as np
from scipy import special

from calibration.comparisons.comparators.betting import betting
from calibration.comparisons.comparators.independent import independent, welch
from calibration.comparisons.comparators.paired import paired_t
from calibration.comparisons.comparators.samples import ComparatorSamples
from calibration.comparisons.comparators.tails import Comparators, Tails

LEAST = 2


def partly_paired(samples: ComparatorSamples) -> Comparators:
    """Return all comparators; those of one part alone know nothing where it is too small."""
    differences = samples.pairs[:, 0] - samples.pairs[:, 1]
    x = np.concatenate([samples.pairs[:, 0], samples.x])
    y = np.concatenate([samples.pairs[:, 1], samples.y])
    result: dict[str, Tails] = {
        "fixed weights": fixed_weights(samples),
        "pairs alone, t": paired_t(differences),
        "Welch of all": welch(x, y),
    }
    if min(len(samples.x), len(samples.y)) >= LEAST:
        alone = independent(samples.x, samples.y, samples.bounds)
        result |= {f"others alone, {name}": tails for name, tails in alone.items()}
    if samples.bounds is not None:
        result["fixed weights with both ends added"] = fixed_weights(with_ends(samples))
        result["betting of all, as if independent"] = betting(x, y, samples.bounds)
    return result


def with_ends(samples: ComparatorSamples) -> ComparatorSamples:
    """Add both ends of the range to every part that is used; to pairs, the two furthest apart."""
    if samples.bounds is None:
        raise ValueError("the ends of an unknown range cannot be added")
    low, high = samples.bounds
    x, y = samples.x, samples.y
    if min(len(x), len(y)) >= LEAST:
        x, y = (np.append(values, samples.bounds) for values in (x, y))
    pairs = np.vstack([samples.pairs, [(low, high), (high, low)]])
    return ComparatorSamples(pairs, x, y, samples.bounds)


def fixed_weights(samples: ComparatorSamples) -> Tails:
    """Return t of both parts, weighted as if nothing were shared within sets.

    The weights follow from the numbers of sets alone: estimated ones err. Degrees of freedom by
    Satterthwaite over the three variances.
    """
    differences = samples.pairs[:, 0] - samples.pairs[:, 1]
    n, n_x, n_y = len(differences), len(samples.x), len(samples.y)
    if min(n_x, n_y) < LEAST:
        return paired_t(differences)
    if n < LEAST:
        return welch(samples.x, samples.y)
    of_pairs, of_rest = n / 2, n_x * n_y / (n_x + n_y)
    w = of_pairs / (of_pairs + of_rest)
    terms = [
        (w**2 * differences.var(ddof=1) / n, n - 1),
        ((1 - w) ** 2 * samples.x.var(ddof=1) / n_x, n_x - 1),
        ((1 - w) ** 2 * samples.y.var(ddof=1) / n_y, n_y - 1),
    ]
    variance = sum(term for term, _ in terms)
    if variance <= 0:
        return lambda _gap: (1.0, 1.0)
    dof = variance**2 / sum(term**2 / free for term, free in terms)
    result = w * differences.mean() + (1 - w) * (samples.x.mean() - samples.y.mean())

    def tails(gap: float) -> tuple[float, float]:
        below = float(special.stdtr(dof, (result - gap) / np.sqrt(variance)))
        return 1 - below, below

    return tails
