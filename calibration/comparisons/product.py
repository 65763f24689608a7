"""The one function that asks the product for verdicts, through what the services call."""

from dataclasses import dataclass
from unittest.mock import patch

from biaswatch.shared.analysis.findings.comparisons import compare, corrected
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.gap_statistics import GAP_STATISTICS
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan, grouping
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.stats.estimate import Estimate, Verdict
from calibration.comparisons.study import Bounds, Kind, Rng, Shape, Study

Interval = tuple[float, float]


@dataclass(frozen=True)
class ProductVerdict:
    """What the product says of two groups on one feature."""

    feature: int
    a: str
    b: str
    verdict: Verdict
    gap: float | None
    marginal: Interval | None
    """Meant to cover this gap in .95."""
    simultaneous: Interval | None
    """Meant to cover, together with those of the whole family, in .95."""
    survives: bool
    """Whether the verdict claims to hold whatever the missing answers were."""


def product_verdicts(study: Study, shape: Shape, alpha: float, rng: Rng) -> list[ProductVerdict]:
    """Return the product's verdicts on all groups and features of a study, as one family."""
    features = [f"feature{place}" for place in range(study.values.shape[1])]
    ranges: dict[str, Bounds | None] = {}
    if shape.declared and shape.bounds is not None:
        ranges = dict.fromkeys(features, shape.bounds)
    if shape.kind is Kind.CLUSTERED_UNBOUNDED:  # this is declared as well: no range is known
        ranges = dict.fromkeys(features, None)
    observations = Observations(
        features=tuple(features),
        values=study.values,
        groups={"group": study.groups},
        units=study.units,
        sets=study.sets,
        ranges=ranges,
    )
    plan = ComparisonPlan(alpha=alpha, tolerance=shape.tolerance, claim=shape.claim)
    sampled = SampledGroups(observations, grouping(observations, ("group",)), plan)
    family = max(1, sampled.declared)
    with patch.dict(GAP_STATISTICS, clear=True):  # what is shown beside a test decides nothing
        compared = list(compare(sampled, rng, family))
    result = corrected(compared, plan, family)
    return [_verdict(item, features.index(item.feature)) for item in result]


def _verdict(comparison: GroupComparison, feature: int) -> ProductVerdict:
    concluded = comparison.conclusion
    return ProductVerdict(
        feature=feature,
        a=comparison.a,
        b=comparison.b,
        verdict=concluded.verdict if concluded else Verdict.INCONCLUSIVE,
        gap=comparison.gap.value,
        marginal=_interval(comparison.by_itself),
        simultaneous=_interval(comparison.gap),
        survives=comparison.survives_missing is True,
    )


def _interval(estimate: Estimate) -> Interval | None:
    return None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
