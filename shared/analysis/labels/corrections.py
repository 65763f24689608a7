"""Corrections: every finding that labels were given for, by the readings and by the labels."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_statistics import GroupIntervals
from biaswatch.shared.analysis.findings.groupings import THE_REST, AnalysisPlan, GroupPair
from biaswatch.shared.analysis.findings.measured_responses import MeasuredResponse
from biaswatch.shared.analysis.findings.run_findings import FindingKey
from biaswatch.shared.analysis.labels.answer_columns import AnswerColumns
from biaswatch.shared.analysis.labels.corrected_groups import CorrectedGroups, GroupsByLabels
from biaswatch.shared.analysis.labels.labelled_rows import labelled_rows, labels_by_answer
from biaswatch.shared.contracts import (
    CorrectedGap,
    CorrectedGroup,
    Label,
    LabelSample,
    Verdict,
    current_labels,
)
from biaswatch.shared.contracts.judged_items import JudgedItem
from biaswatch.shared.formatting import computed_p
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.comparisons.tolerance_tests import conclude
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.labels.agreement import (
    agreement,
    bias_difference,
    doubtful_raters,
    instrument_error,
)

GroupsAndGaps = tuple[tuple[CorrectedGroup, ...], tuple[CorrectedGap, ...]]


@dataclass(frozen=True)
class _ByReadings:
    """The statistics of the readings alone."""

    means: Sequence[Estimate]
    """By group."""
    gaps: Mapping[GroupPair, Estimate]


def corrected_gaps(
    part: CorrectedGroups, rates_from: float | None, plan: AnalysisPlan, family: int
) -> GroupsAndGaps:
    """Return the groups of a dimension and their comparisons, in a family of this size.

    A window may have millions of answers: results of readings are freed before those of labels
    are made, and those before the rates.

    Parameters
    ----------
    rates_from
        From which value on an answer counts as selected, for ratios of rates; None for no ratios.
    """
    read = _by_readings(part, plan)
    labelled = GroupsByLabels(part)
    groups = tuple(_group(labelled, code, read, plan) for code in range(len(read.means)))
    gaps = {pair: labelled.gap(pair, family) for pair in part.compared}
    ratios: dict[GroupPair, tuple[Estimate, float | None]] = {}
    if rates_from is not None:
        rates = part.selected(rates_from)
        if rates is not part:
            del labelled
            labelled = GroupsByLabels(rates)
        ratios = {pair: (labelled.ratio(pair), rates.rate_ratio(pair)) for pair in gaps}
    return groups, tuple(
        _gap(part, pair, read.gaps[pair], gap, ratios.get(pair, (None, None)), plan, family)
        for pair, gap in gaps.items()
    )


def selection_threshold(part: CorrectedGroups, plan: AnalysisPlan) -> float | None:
    """Return the least value of a selected answer: as declared, or the upper of yes and no."""
    middle = sum(part.bounds) / 2 if part.yes_or_no else None
    return (plan.selected_at_least or {}).get(part.feature, middle)


def _by_readings(part: CorrectedGroups, plan: AnalysisPlan) -> _ByReadings:
    seen = part.by_readings()
    means = _means(seen, plan)
    return _ByReadings(means, {pair: seen.gap(pair, 0, 1).marginal for pair in seen.compared})


def _means(seen: SampledGroups, plan: AnalysisPlan) -> list[Estimate]:
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
        reading=read.means[code],
        corrected=labelled.mean(code),
        tuning=labelled.tuning(code),
        units=labelled.units_of(code),
        widest_share=labelled.widest_share(code),
        bias=error.bias,
        absolute_error=error.absolute,
        sensitivity=error.sensitivity,
        specificity=error.specificity,
    )


def _gap(
    part: CorrectedGroups,
    pair: GroupPair,
    reading: Estimate,
    result: GapResult,
    ratios: tuple[Estimate | None, float | None],
    plan: AnalysisPlan,
    family: int,
) -> CorrectedGap:
    """Return one comparison by the readings and as labels correct it."""
    ratio, reading_ratio = ratios
    p_adjusted, p_equivalence = (
        None if p is None else min(1.0, p * family)
        for p in (result.p_disparity, result.p_equivalence)
    )
    conclusion = conclude(
        result.simultaneous, p_adjusted, p_equivalence, tolerance=plan.tolerance, alpha=plan.alpha
    )
    sides = part.members(pair)
    off, off_p = bias_difference(
        part.labelled_side(sides[0]), part.labelled_side(sides[1]), part.bounds, plan.alpha
    )
    names = part.grouping.groups
    return CorrectedGap(
        a=names[pair[0]].name,
        b=THE_REST if pair[1] is None else names[pair[1]].name,
        reading=reading,
        corrected=result.simultaneous,
        by_itself=result.marginal,
        ratio=ratio,
        reading_ratio=reading_ratio,
        p_value=computed_p(result.p_disparity),
        p_adjusted=computed_p(p_adjusted),
        p_equivalence=computed_p(p_equivalence),
        bias_difference=off,
        bias_p=computed_p(off_p),
        verdict=Verdict(conclusion.verdict),
        reason=conclusion.reason,
    )


@dataclass(frozen=True)
class FindingCorrection:
    """Findings of one feature over one dimension, corrected by labels, for one target."""

    key: FindingKey
    labels: int
    people: int
    labelled_until: datetime
    instructions: tuple[str, ...]
    family: int
    agreement: Estimate
    doubtful_people: int
    groups: tuple[CorrectedGroup, ...]
    gaps: tuple[CorrectedGap, ...]


def corrections(
    answers: Sequence[AnswerColumns],
    samples: Sequence[LabelSample],
    labels: Sequence[Label],
    plan: AnalysisPlan,
) -> list[FindingCorrection]:
    """Return what labels make of the findings of a run; all corrected gaps are one family.

    Labels count that were given to drawn answers; of several samples of one number the largest
    holds the others. Where nothing was labelled yet there is nothing to return.
    """
    labelled = [label for label in current_labels(list(labels)) if label.value is not None]
    parts = list(_parts(answers, largest_samples(samples), labelled, plan))
    family = max(1, sum(part.comparable(pair) for part, _ in parts for pair in part.compared))
    findings = []
    while parts:  # the memory of one part is freed before the next
        findings.append(_finding(*parts.pop(), plan, family))
    return sorted(findings, key=lambda finding: finding.key)


def judged_case(item: JudgedItem, instrument: str, wanted: Collection[str]) -> MeasuredResponse:
    """Return a judged pair or report as a measured response, with the groups of some dimensions."""
    return MeasuredResponse(
        target=item.target,
        scaffold=item.scaffold,
        unit=item.unit_id,
        set=None,
        groups={name: group for name, group in item.groups.items() if name in wanted},
        extractor=instrument,
        values=dict(item.readings),
        why_missing=None,
    )


def largest_samples(samples: Sequence[LabelSample]) -> list[LabelSample]:
    """Return the largest sample of each number, which holds the others."""
    by_size = sorted(samples, key=lambda sample: (sample.wanted, sample.at))
    return list({(sample.extractor, sample.feature): sample for sample in by_size}.values())


Given = Sequence[Label]


def _parts(
    answers: Sequence[AnswerColumns],
    samples: Sequence[LabelSample],
    labelled: Given,
    plan: AnalysisPlan,
) -> Iterator[tuple[CorrectedGroups, Given]]:
    for sample in samples:
        own_labels = [
            e for e in labelled if (e.extractor, e.feature) == (sample.extractor, sample.feature)
        ]
        values_by_answer = labels_by_answer(own_labels)
        for answers_of_run in answers:
            if answers_of_run.extractor != sample.extractor or not any(
                id_ in answers_of_run.row_of for id_ in values_by_answer
            ):
                continue
            rows = labelled_rows(answers_of_run, sample, values_by_answer)
            bounds = (sample.low, sample.high)
            for dimension in answers_of_run.groups:
                groups = CorrectedGroups(
                    rows, sample.feature, dimension, bounds, plan.comparisons, plan.ranges
                )
                yield (
                    groups,
                    [label for label in own_labels if label.response_id in answers_of_run.row_of],
                )


def _finding(
    part: CorrectedGroups, labelled: Given, plan: AnalysisPlan, family: int
) -> FindingCorrection:
    of = part.rows.answers
    of_people = _by_person(labelled)
    by_answer = labels_by_answer(labelled)
    groups, gaps = corrected_gaps(part, selection_threshold(part, plan), plan, family)
    return FindingCorrection(
        key=FindingKey(of.target, of.scaffold, of.extractor, part.feature, part.dimension),
        labels=len(labelled),
        people=len(of_people),
        labelled_until=max(label.at for label in labelled),
        instructions=tuple(sorted({label.instructions for label in labelled})),
        family=family,
        agreement=agreement([list(values.values()) for values in by_answer.values()], plan.alpha),
        doubtful_people=len(doubtful_raters(of_people)),
        groups=groups,
        gaps=gaps,
    )


def _by_person(labels: Given) -> Mapping[str, Mapping[str, float]]:
    by_person: dict[str, dict[str, float]] = defaultdict(dict)
    for label in labels:
        if label.value is not None:
            by_person[label.person_id][label.response_id] = label.value
    return by_person
