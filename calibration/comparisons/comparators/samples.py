"""What is compared, made of a study independently of the product: pairs, and values alone."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from calibration.comparisons.study import Bounds, Floats, Shape, Study


@dataclass(frozen=True)
class ComparatorSamples:
    """The values of two groups on one feature; sets and prompts are reduced to their means."""

    pairs: Floats
    """[pairs, 2]: of sets that both groups have."""
    x: Floats
    """The other values of the first group."""
    y: Floats
    bounds: Bounds | None


def samples_of(study: Study, shape: Shape, feature: int, a: str, b: str) -> ComparatorSamples:
    """Return the means of sets, or of prompts; missing answers are left out.

    A row without a label is a unit of its own, named by its number.
    """
    groups = np.array(study.groups)
    labels = study.sets or study.units
    column = study.values[:, feature]
    rows = [np.flatnonzero((groups == name) & np.isfinite(column)) for name in (a, b)]
    if labels is None:
        x, y = (column[row] for row in rows)
        return ComparatorSamples(np.empty((0, 2)), x, y, shape.bounds)
    of_a, of_b = (
        _means(column[item], [labels[row] or (row,) for row in item.tolist()]) for item in rows
    )
    shared = [key for key in of_a if key in of_b]
    pairs = np.array([[of_a[key], of_b[key]] for key in shared]).reshape(-1, 2)
    x, y = (np.array([v for k, v in of.items() if k not in shared]) for of in (of_a, of_b))
    return ComparatorSamples(pairs, x, y, shape.bounds)


def _means(values: Floats, labels: list[Hashable]) -> dict[Hashable, float]:
    result: dict[Hashable, list[float]] = {}
    for value, label in zip(values.tolist(), labels, strict=True):
        result.setdefault(label, []).append(value)
    return {label: sum(some) / len(some) for label, some in result.items()}
