"""What a closed run shows: the diagnosis of its answers, one finding for each question."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from services.diagnoser.domain.findings.cases import AnalysisPlan, MeasuredResponse
from services.diagnoser.domain.findings.comparisons import ComparisonPlan, compare, corrected
from services.diagnoser.domain.findings.groupings import grouping
from services.diagnoser.domain.findings.observations import Observations
from services.diagnoser.domain.findings.run_findings import GroupedResponses, RunFinding, findings
from services.diagnoser.domain.findings.units import Units


def diagnose(
    cases: Sequence[MeasuredResponse], plan: AnalysisPlan, rng: np.random.Generator
) -> list[RunFinding]:
    """Answer every question the cases allow; all comparisons together are one family."""
    declared = ComparisonPlan(plan.alpha, plan.tolerance, claim=plan.claim)
    parts = list(_parts(cases, plan, declared, rng))
    every = corrected([each for part in parts for each in part.comparisons], declared)
    family = sum(each.p_value is not None for each in every)
    taken = iter(every)
    found: list[RunFinding] = []
    for part in parts:
        gaps = [next(taken) for _ in part.comparisons]
        found.extend(findings(part, gaps, family, plan, rng))
    return sorted(found, key=lambda finding: finding.key)


def _parts(
    cases: Sequence[MeasuredResponse],
    plan: AnalysisPlan,
    declared: ComparisonPlan,
    rng: np.random.Generator,
) -> Iterator[GroupedResponses]:
    sorted_: dict[tuple[str, str, str], list[MeasuredResponse]] = defaultdict(list)
    for case in cases:
        sorted_[case.target, case.scaffold, case.extractor].append(case)
    for (_, _, extractor), some in sorted(sorted_.items()):
        names = _feature_names(extractor, some, plan)
        dimensions = sorted({dimension for case in some for dimension in case.groups})
        seen = _observations(some, names, dimensions)
        for dimension in dimensions if names else ():
            groups = grouping(seen, (dimension,))
            chosen = _selected(seen, plan)
            yield GroupedResponses(
                some,
                seen,
                groups,
                Units.of(seen, groups),
                Units.of(chosen, groups),
                chosen.values,
                tuple(compare(seen, groups, declared, rng)),
            )


def _feature_names(
    extractor: str, cases: Sequence[MeasuredResponse], plan: AnalysisPlan
) -> list[str]:
    names = {name for case in cases for name in case.values}
    names |= set(plan.measured.get(extractor, ()))
    chosen = set(plan.features)
    return sorted(names & chosen if chosen else names)


def _observations(
    cases: Sequence[MeasuredResponse], names: Sequence[str], dimensions: Sequence[str]
) -> Observations:
    values = [[_number(case.values.get(name)) for name in names] for case in cases]
    sets = [case.set for case in cases]
    return Observations(
        features=tuple(names),
        values=np.array(values, dtype=np.float64).reshape(len(cases), len(names)),
        groups={d: [case.groups.get(d) for case in cases] for d in dimensions},
        units=[case.unit for case in cases],
        sets=sets if any(sets) else None,
    )


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _selected(seen: Observations, plan: AnalysisPlan) -> Observations:
    """Return 1 for every value at or above its feature's threshold, 0 below; nan without one."""
    limits = np.array([(plan.selected_at_least or {}).get(n, np.nan) for n in seen.features])
    known = np.isfinite(seen.values) & np.isfinite(limits)
    chosen = np.where(known, seen.values >= limits, np.nan)
    return Observations(seen.features, chosen, seen.groups, seen.units, seen.sets)
