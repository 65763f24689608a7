"""Labels with a probability for every answer, as answers of which each was drawn by itself."""

import numpy as np

from biaswatch.shared.stats.labels.corrected_values import DrawnLabels
from biaswatch.shared.stats.samples import Vector


def every_drawn(labels: Vector, probabilities: Vector) -> DrawnLabels:
    """Return labels, NaN where there is none, with the probability of each answer."""
    none = np.full(len(labels), -1)
    return DrawnLabels(np.arange(len(labels)), labels, probabilities, none, np.array([np.nan]))
