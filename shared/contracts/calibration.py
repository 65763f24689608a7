"""What an extractor makes of the names of groups by itself, whatever a model says."""

from shared.contracts.diagnosis import Estimate
from shared.contracts.identity import Name
from shared.contracts.record import Part


class OwnGap(Part):
    """An extractor's gap between two groups, on sentences that differ in the name alone."""

    feature: Name
    """Which of its numbers."""
    dimension: Name
    """The grouping."""
    a: Name
    """The first group."""
    b: Name
    """The second group."""
    gap: Estimate
    """Mean of a minus mean of b, with its interval."""
