"""Findings: what was computed for a part of a run, in the words of its records."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite

import numpy as np

from services.diagnoser.domain.findings.cases import AnalysisPlan, FindingKey, MeasuredResponse
from services.diagnoser.domain.findings.comparisons import GroupComparison
from services.diagnoser.domain.findings.group_statistics import GroupingDescription, describe
from services.diagnoser.domain.findings.groupings import Grouping
from services.diagnoser.domain.findings.missingness import missingness_by_group
from services.diagnoser.domain.findings.observations import Floats, Observations, Whole
from services.diagnoser.domain.findings.units import FixedPrompts, Units
from shared.contracts import (
    Claim,
    Estimate,
    Gap,
    GroupDisparity,
    GroupSummary,
    MissingTest,
    OwnGap,
    Verdict,
)
from shared.stats import estimate
from shared.stats.comparisons.fixed_prompts import fixed_prompts_mean
from shared.stats.comparisons.means_and_rates import impact_ratio, mean_of, rate_of
from shared.stats.groups.descriptive import Mean, Median, StandardDeviation

STATISTICS = (Mean(), Median(), StandardDeviation())
LEAST_GROUPS = 3
"""Of two groups, the gap says all there is to say of disparity."""
UNDEFINED, NOT_FINITE = "undefined", "not finite"


@dataclass(frozen=True)
class RunFinding:
    """The answer to one question."""

    key: FindingKey
    groups: tuple[GroupSummary, ...]
    gaps: tuple[Gap, ...]
    disparities: tuple[GroupDisparity, ...]
    missing: MissingTest
    family: int


@dataclass(frozen=True)
class GroupedResponses:
    """The answers one extractor measured for one target and scaffold, grouped by one dimension."""

    cases: Sequence[MeasuredResponse]
    seen: Observations
    grouping: Grouping
    units: Units
    selected: Units
    """1 where an answer is a selection, 0 where it is none; by prompt."""
    chosen: Floats
    """The same, [rows, features]."""
    comparisons: tuple[GroupComparison, ...]


def findings(
    part: GroupedResponses,
    compared: Sequence[GroupComparison],
    family: int,
    plan: AnalysisPlan,
    rng: np.random.Generator,
) -> Iterator[RunFinding]:
    """Return a finding for every feature of a part, with its corrected comparisons."""
    first, groups = part.cases[0], range(len(part.grouping.groups))
    many = len(groups) >= LEAST_GROUPS
    described = describe(
        part.seen,
        part.grouping,
        STATISTICS,
        alpha=plan.alpha,
        ddof=1,
        permutations=plan.permutations if many else 0,
        rng=rng,
    )
    absent = missingness_by_group(part.seen, part.grouping, alpha=plan.alpha, rng=rng)
    for index, absence in enumerate(absent):
        feature = part.seen.features[index]
        other = _other(described, feature)
        yield RunFinding(
            FindingKey(first.target, first.scaffold, first.extractor, feature, part.grouping.name),
            tuple(_summary(part, code, index, plan, other[code]) for code in groups),
            tuple(_gap(part, each, index, plan) for each in compared if each.feature == feature),
            _disparities(described, feature) if many else (),
            MissingTest(
                p_value=absence.found.p_value,
                method=absence.found.method,
                reason=absence.found.reason,
            ),
            family,
        )


def _other(described: GroupingDescription, feature: str) -> list[dict[str, float | None]]:
    """Return, by group, the statistics of a feature beyond its mean."""
    mine = [each for each in described.statistics if each.feature == feature]
    by_name = {
        name: [each.value for each in mine if each.statistic == name]
        for name in dict.fromkeys(each.statistic for each in mine)
        if name != Mean().name
    }
    return [
        dict(zip(by_name, values, strict=True)) for values in zip(*by_name.values(), strict=True)
    ]


def _disparities(described: GroupingDescription, feature: str) -> tuple[GroupDisparity, ...]:
    return tuple(
        GroupDisparity(
            metric=each.metric,
            value=each.value,
            group=each.group,
            null_median=each.null_median,
            p_value=each.p_value,
            reason=each.reason,
        )
        for each in described.disparities
        if each.feature == feature and each.statistic == Mean().name
    )


def _summary(
    part: GroupedResponses,
    code: int,
    index: int,
    plan: AnalysisPlan,
    other: Mapping[str, float | None],
) -> GroupSummary:
    rows = np.flatnonzero(part.grouping.codes == code)
    reasons = _reasons(part, rows, index)
    units = _present(part.units, code, index)
    rate = None
    if part.seen.features[index] in (plan.selected_at_least or {}):
        rate = _as_sent(_rate(part, code, index, plan))
    return GroupSummary(
        group=part.grouping.groups[code].name,
        responses=len(rows),
        missing=reasons.total(),
        missing_reasons=dict(sorted(reasons.items())),
        units=len(units),
        mean=_as_sent(_mean(part, code, index, plan)),
        selection_rate=rate,
        statistics=dict(other),
    )


def _mean(
    part: GroupedResponses, code: int, index: int, plan: AnalysisPlan
) -> estimate.IntervalEstimate:
    """Return a group's mean with the interval of what the conclusions are about."""
    if plan.claim is Claim.BANK:
        return fixed_prompts_mean(
            FixedPrompts(part.seen, part.grouping).by_prompt(code, index), plan.alpha
        )
    return mean_of(_present(part.units, code, index), plan.alpha)


def _rate(
    part: GroupedResponses, code: int, index: int, plan: AnalysisPlan
) -> estimate.IntervalEstimate:
    if plan.claim is Claim.BANK:
        chosen = replace(part.seen, values=part.chosen)
        return fixed_prompts_mean(
            FixedPrompts(chosen, part.grouping).by_prompt(code, index), plan.alpha
        )
    return rate_of(_present(part.selected, code, index), plan.alpha)


def _reasons(part: GroupedResponses, rows: Whole, index: int) -> Counter[str]:
    """Count why answers of a group have no value."""
    feature = part.seen.features[index]
    reasons: Counter[str] = Counter()
    for row in rows:
        value = part.cases[row].values.get(feature)
        if value is None:
            reasons[part.cases[row].why_missing or UNDEFINED] += 1
        elif not isfinite(value):
            reasons[NOT_FINITE] += 1
    return reasons


def _gap(part: GroupedResponses, compared: GroupComparison, index: int, plan: AnalysisPlan) -> Gap:
    impact = None
    if compared.feature in (plan.selected_at_least or {}):
        codes = {group.name: code for code, group in enumerate(part.grouping.groups)}
        a, b = (_present(part.selected, codes[name], index) for name in (compared.a, compared.b))
        impact = _as_sent(impact_ratio(a, b, plan.alpha))
    conclusion = compared.conclusion
    return Gap(
        a=compared.a,
        b=compared.b,
        gap=_as_sent(compared.gap),
        p_value=compared.p_value,
        p_adjusted=compared.p_adjusted,
        impact_ratio=impact,
        effect_size=_as_sent(compared.effect_size),
        mann_whitney_p=compared.mann_whitney_p,
        by_set=_as_sent(compared.by_set.estimate) if compared.by_set else None,
        by_set_p=compared.by_set.p_value if compared.by_set else None,
        verdict=Verdict(conclusion.verdict) if conclusion else Verdict.NOT_ENOUGH,
        reason=conclusion.reason if conclusion else None,
    )


def _present(units: Units, code: int, index: int) -> list[float]:
    values = units.by_unit[code].values[:, index]
    found: list[float] = values[np.isfinite(values)].tolist()
    return found


def _as_sent(found: estimate.IntervalEstimate) -> Estimate:
    return Estimate(**asdict(found))


def with_own_gaps(finding: RunFinding, own: Sequence[OwnGap]) -> RunFinding:
    """Put beside each gap what the extractor alone makes of the two names, where it is known."""
    mine = [each for each in own if each.feature == finding.key.feature]
    gaps = (gap.model_copy(update={"instrument": _between(gap, mine)}) for gap in finding.gaps)
    return replace(finding, gaps=tuple(gaps))


def _between(gap: Gap, own: Sequence[OwnGap]) -> Estimate | None:
    """Find the gap of the same two names, whatever their case and their order."""
    names = (gap.a.casefold(), gap.b.casefold())
    for each in own:
        known = (each.a.casefold(), each.b.casefold())
        if known == names:
            return each.gap
        if known == names[::-1]:
            return _turned(each.gap)
    return None


def _turned(gap: Estimate) -> Estimate:
    turned = {"value": gap.value, "low": gap.high, "high": gap.low}
    return gap.model_copy(
        update={name: None if value is None else -value for name, value in turned.items()}
    )
