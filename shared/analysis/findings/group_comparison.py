"""One group compared with another, with its answers to all three questions."""

from collections.abc import Mapping
from dataclasses import dataclass

from biaswatch.shared.analysis.findings.gap_statistics import Value
from biaswatch.shared.contracts.diagnosis import Verdicts
from biaswatch.shared.stats.comparisons.constant_shift import TwinDifferences
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.comparisons.random_factors import FactorGap
from biaswatch.shared.stats.comparisons.tolerance_tests import Conclusion
from biaswatch.shared.stats.estimate import Estimate


@dataclass(frozen=True)
class GroupComparison:
    """One group compared with another, or with all others, on one feature."""

    feature: str
    dimension: str
    domain: str
    a: str
    b: str
    gap: Estimate
    """With the interval that the verdict is read from, or one by itself: its method says which."""
    by_itself: Estimate
    """With an interval of coverage 1 - alpha for this comparison alone."""
    p_value: float | None
    """For a gap of at most the tolerance, before correction."""
    p_equivalence: float | None
    """For a gap of at least the tolerance, before correction; None at tolerance 0."""
    statistics: Mapping[str, Value]
    """The results of `GAP_STATISTICS`, by name."""
    n_a: int
    """Answers with a value."""
    n_b: int
    n_missing_a: int
    n_missing_b: int
    units_a: int
    """Prompts with a value."""
    units_b: int
    drawn: bool = True
    """False for answers that a repeat would not change."""
    factor: FactorGap | None = None
    """With random factors as clusters, where some are declared."""
    planned_few: bool = False
    """True if the plan has too few values of a random factor for a claim beyond them."""
    by_set: GapResult | None = None
    """With sets as units, beside a declared comparison that takes answers as units."""
    known: bool = False
    """The answers never vary: the gap of these prompts is known."""
    if_missing: tuple[GapResult, GapResult] | None = None
    """Had the missing answers been the least favourable ones for a, and for b; where any are."""
    twin_rate: float | None = None
    """The share of twins that were answered differently."""
    twin_differences: TwinDifferences | None = None
    """The differences of twins whose sets are the sample; None without twins, or on a bank."""
    twin_shift: Estimate | None = None
    """The gap with the interval of a constant shift, where twins decide the summary."""
    p_answers: float | None = None
    """For twins treated alike, by exchange of answers: on a bank, and for unequal numbers."""
    p_adjusted: float | None = None
    p_equivalence_adjusted: float | None = None
    conclusion: Conclusion | None = None
    verdicts: Verdicts | None = None
    """The answers to all three questions; None before the correction of the family."""
    survives_missing: bool | None = None
    """False if the missing answers could overturn the verdict; None without a verdict."""

    @property
    def summary_gap(self) -> Estimate:
        """The gap with the interval that answers the headline question."""
        return self.twin_shift or self.gap
