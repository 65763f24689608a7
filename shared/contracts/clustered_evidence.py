"""Evidence of a comparison with names and texts as clusters, and at a declared horizon."""

from pydantic import NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.identity import Name
from biaswatch.shared.contracts.record import Part


class FactorLevels(Part):
    """The values of a random factor."""

    factor: Name
    """The factor: name, text, template."""
    values: NonNegativeInt
    """How many values the group with fewer of them has."""


class ClusteredEvidence(Part):
    """The evidence of a test about a group beyond its names and texts."""

    blocks: NonNegativeInt
    """Blocks of answers that share no name, no text, no other random factor: each is one factor of
    the evidence, once."""
    levels: tuple[FactorLevels, ...] = ()
    """The values of each random factor."""
    log_e_gap: float | None = None
    """The log evidence against gaps within the tolerance; null before the first block."""
    log_e_effect: float | None = None
    """The log evidence against no gap at all."""
    low: float | None = None
    """The lower end of the gap's interval at the last look, as a share of the range."""
    high: float | None = None
    """The upper end."""


class HorizonEvidence(Part):
    """A look at a declared number of rounds."""

    look: PositiveInt
    """Which look it is."""
    looks: PositiveInt
    """How many are declared."""
    z: float
    """The z-statistic of the gap beyond the tolerance, in the direction of the larger."""
    bound: float
    """The bound of this look."""
