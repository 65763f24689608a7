"""The shape of a sample: the moments and quartiles that decide which test suits it."""

from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.samples import ContentCache, Vector, is_flat


@dataclass(frozen=True)
class SampleShape:
    """Moments and quartiles of a sample, in the unit of its values."""

    units: int
    mean: float
    variance: float
    """Estimate for the population, with n - 1."""
    deviation: float
    """Standard deviation of the sample, with n."""
    quartile_range: float
    skewness: float
    """0 for a flat sample."""
    is_flat: bool
    """True where the spread is only rounding."""
    is_at_ends: bool
    """True where every value is the least or the largest."""


_SHAPES = ContentCache[SampleShape](max_entries=8192)
"""A group is compared with many others."""


def shape_of(values: Vector) -> SampleShape:
    """Return the shape of a sorted sample of two values or more; the latest ones are cached.

    Examples
    --------
    >>> import numpy as np
    >>> shape = shape_of(np.array([1.0, 2, 3, 4, 10]))
    >>> shape.mean, shape.quartile_range, round(shape.skewness, 2)
    (4.0, 2.0, 1.14)
    """
    return _SHAPES.get(values, None, lambda: _shape_of(values))


def _shape_of(values: Vector) -> SampleShape:
    flat = is_flat(values)
    return SampleShape(
        units=len(values),
        mean=float(values.mean()),
        variance=float(values.var(ddof=1)),
        deviation=float(values.std()),
        quartile_range=quartile_range(values),
        skewness=0.0 if flat else skewness_of(values),
        is_flat=flat,
        is_at_ends=bool(((values == values[0]) | (values == values[-1])).all()),
    )


def quartile_range(values: Vector) -> float:
    """Return the width of the middle half of a sorted sample."""
    low, high = (values[round((len(values) - 1) * share)] for share in (0.25, 0.75))
    return float(high - low)


def skewness_of(values: Vector) -> float:
    """Return the skewness of values that are not all equal."""
    deviations = values - values.mean()
    _, exponent = np.frexp(np.abs(deviations).max())
    deviations = np.ldexp(deviations, -exponent)  # cubes of values near 1e-138 would be 0
    squares = deviations * deviations  # many times as fast as a power of 3
    return float((squares * deviations).mean() / squares.mean() ** 1.5)
