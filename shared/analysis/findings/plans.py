"""What is declared before anybody looks: which features, at which level, about what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from biaswatch.shared.contracts import Against, Claim


@dataclass(frozen=True)
class ComparisonPlan:
    """How groups are compared."""

    alpha: float = 0.05
    tolerance: float = 0.0
    correction: str = "bonferroni"
    """A single-step correction, so that intervals of the whole family agree with the verdicts."""
    permutations: int = 0
    """Relabellings of each comparison for a p-value beside the declared one; a run shows none."""
    claim: Claim = Claim.POPULATION
    against: Against = Against.AUTO

    @property
    def single_step(self) -> bool:
        """Whether each interval can be widened for the whole family, and verdicts read from it."""
        return self.correction == "bonferroni"


@dataclass(frozen=True)
class AnalysisPlan:
    """How a run is diagnosed."""

    alpha: float = 0.05
    tolerance: float = 0.0
    features: tuple[str, ...] = ()
    """Which are diagnosed; all, unless named."""
    measured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What each extractor measures: known even where it could measure nothing."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By feature: the least and the largest value there can be; a value beyond is missing."""
    selected_at_least: Mapping[str, float] | None = None
    assessed: tuple[str, ...] = ()
    """Features that are assessed beyond their gaps."""
    claim: Claim = Claim.POPULATION
    against: Against = Against.AUTO
    permutations: int = 1000
    """How often labels are exchanged at random, where three or more groups are compared."""

    def features_of(self, extractor: str, seen: Iterable[str]) -> list[str]:
        """Return the features that an extractor measures and the plan wants, sorted."""
        measured = {*seen, *self.measured.get(extractor, ())}
        return sorted(measured & set(self.features) if self.features else measured)

    @property
    def comparisons(self) -> ComparisonPlan:
        """Return how the run's groups are compared."""
        return ComparisonPlan(self.alpha, self.tolerance, claim=self.claim, against=self.against)
