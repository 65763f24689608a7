"""The groups and gaps of one dimension, by readings and as labels correct them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_intervals import GroupIntervals
from biaswatch.shared.analysis.findings.groupings import THE_REST, ComparedGroups
from biaswatch.shared.analysis.findings.plans import AnalysisPlan
from biaswatch.shared.analysis.findings.run_findings import estimate_record
from biaswatch.shared.analysis.labels.corrected_groups import CorrectedGroups
from biaswatch.shared.analysis.labels.groups_by_labels import GroupsByLabels
from biaswatch.shared.contracts import CorrectedGap, CorrectedGroup, Verdict
from biaswatch.shared.formatting import computed_p
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.comparisons.verdicts import conclude
from biaswatch.shared.stats.estimate import IntervalEstimate
from biaswatch.shared.stats.labels.agreement import bias_difference, instrument_error

GroupsAndGaps = tuple[tuple[CorrectedGroup, ...], tuple[CorrectedGap, ...]]


@dataclass(frozen=True)
class _ByReadings:
    """What the instrument says by itself."""

    means: Sequence[IntervalEstimate]
    """By group."""
    gaps: Mapping[ComparedGroups, IntervalEstimate]


def corrected_gaps(
    part: CorrectedGroups, rates_from: float | None, plan: AnalysisPlan, family: int
) -> GroupsAndGaps:
    """Return the groups of a dimension and their comparisons, in a family of so many.

    A window may have millions of answers: what is made of readings is let go of before that of
    labels is made, and that before the rates.

    Parameters
    ----------
    rates_from
        From which value on an answer counts as selected, for ratios of rates; None for no ratios.
    """
    read = _by_readings(part, plan)
    labelled = GroupsByLabels(part)
    groups = tuple(_group(labelled, code, read, plan) for code in range(len(read.means)))
    gaps = {pair: labelled.gap(pair, family) for pair in part.compared}
    ratios: dict[ComparedGroups, tuple[IntervalEstimate, float | None]] = {}
    if rates_from is not None:
        rates = part.selected(rates_from)
        if rates is not part:
            del labelled
            labelled = GroupsByLabels(rates)
        ratios = {pair: (labelled.ratio(pair), rates.rate_ratio(pair)) for pair in gaps}
    return groups, tuple(
        _gap(part, pair, read.gaps[pair], found, ratios.get(pair, (None, None)), plan, family)
        for pair, found in gaps.items()
    )


def selection_threshold(part: CorrectedGroups, plan: AnalysisPlan) -> float | None:
    """Return from which value on an answer counts as selected: as declared, or of yes and no."""
    middle = sum(part.bounds) / 2 if part.yes_or_no else None
    return (plan.selected_at_least or {}).get(part.feature, middle)


def _by_readings(part: CorrectedGroups, plan: AnalysisPlan) -> _ByReadings:
    seen = part.by_readings()
    means = _means(seen, plan)
    return _ByReadings(means, {pair: seen.gap(pair, 0, 1).marginal for pair in seen.compared})


def _means(seen: SampledGroups, plan: AnalysisPlan) -> list[IntervalEstimate]:
    alone = GroupIntervals(seen.observations, seen.grouping, plan.claim, plan.alpha, seen.units)
    return [alone.mean(code, 0) for code in range(len(seen.grouping.groups))]


def _group(
    labelled: GroupsByLabels, code: int, read: _ByReadings, plan: AnalysisPlan
) -> CorrectedGroup:
    """Return what labels say of one group: its mean, and the error of the instrument."""
    part = labelled.groups
    judged = part.labelled(code)
    threshold = selection_threshold(part, plan)
    error = instrument_error(judged, part.bounds, plan.alpha, selected_at_least=threshold)
    return CorrectedGroup(
        group=part.grouping.groups[code].name,
        answers=part.read(code),
        labelled=len(judged.labels),
        drawn=part.drawn(code),
        reading=estimate_record(read.means[code]),
        corrected=estimate_record(labelled.mean(code)),
        tuning=labelled.tuning(code),
        units=labelled.units_of(code),
        widest_share=labelled.widest_share(code),
        bias=estimate_record(error.bias),
        absolute_error=estimate_record(error.absolute),
        sensitivity=estimate_record(error.sensitivity) if error.sensitivity else None,
        specificity=estimate_record(error.specificity) if error.specificity else None,
    )


def _gap(
    part: CorrectedGroups,
    pair: ComparedGroups,
    reading: IntervalEstimate,
    found: GapResult,
    ratios: tuple[IntervalEstimate | None, float | None],
    plan: AnalysisPlan,
    family: int,
) -> CorrectedGap:
    """Return one comparison by the readings and as labels correct it."""
    ratio, reading_ratio = ratios
    p_adjusted, p_equivalence = (
        None if p is None else min(1.0, p * family)
        for p in (found.p_disparity, found.p_equivalence)
    )
    conclusion = conclude(
        found.simultaneous, p_adjusted, p_equivalence, tolerance=plan.tolerance, alpha=plan.alpha
    )
    sides = part.members(pair)
    off, off_p = bias_difference(
        part.labelled_side(sides[0]), part.labelled_side(sides[1]), part.bounds, plan.alpha
    )
    names = part.grouping.groups
    return CorrectedGap(
        a=names[pair[0]].name,
        b=THE_REST if pair[1] is None else names[pair[1]].name,
        reading=estimate_record(reading),
        corrected=estimate_record(found.simultaneous),
        by_itself=estimate_record(found.marginal),
        ratio=estimate_record(ratio) if ratio else None,
        reading_ratio=reading_ratio,
        p_value=computed_p(found.p_disparity),
        p_adjusted=computed_p(p_adjusted),
        p_equivalence=computed_p(p_equivalence),
        bias_difference=estimate_record(off),
        bias_p=computed_p(off_p),
        verdict=Verdict(conclusion.verdict),
        reason=conclusion.reason,
    )
