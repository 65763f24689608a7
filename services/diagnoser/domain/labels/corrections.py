"""Corrections: every finding that labels were given for, by the readings and by the labels."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from services.diagnoser.domain.findings.group_intervals import GroupIntervals
from services.diagnoser.domain.findings.groupings import THE_REST, ComparedGroups
from services.diagnoser.domain.findings.plans import AnalysisPlan
from services.diagnoser.domain.findings.run_findings import FindingKey, estimate_record
from services.diagnoser.domain.labels.answer_columns import AnswerColumns
from services.diagnoser.domain.labels.corrected_groups import CorrectedGroups
from services.diagnoser.domain.labels.labelled_rows import labelled_rows, labels_by_answer
from shared.contracts import (
    CorrectedGap,
    CorrectedGroup,
    Estimate,
    Label,
    LabelSample,
    Verdict,
    standing_labels,
)
from shared.formatting import computed_p
from shared.stats.comparisons.verdicts import conclude
from shared.stats.labels.agreement import agreement, people
from shared.stats.labels.instrument_error import bias_difference, instrument_error


@dataclass(frozen=True)
class FindingCorrection:
    """What labels make of one feature over one dimension, for one target and scaffold."""

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
    given = [each for each in standing_labels(list(labels)) if each.value is not None]
    parts = list(_parts(answers, _largest(samples), given, plan))
    family = max(1, sum(part.comparable(pair) for part, _ in parts for pair in _pairs(part)))
    found = []
    while parts:  # what is computed of one is let go of before the next
        found.append(_finding(*parts.pop(), plan, family))
    return sorted(found, key=lambda each: each.key)


def _largest(samples: Sequence[LabelSample]) -> list[LabelSample]:
    found: dict[tuple[str, str], LabelSample] = {}
    for each in sorted(samples, key=lambda sample: (sample.wanted, sample.at)):
        found[each.extractor, each.feature] = each
    return list(found.values())


Given = Sequence[Label]


def _parts(
    answers: Sequence[AnswerColumns],
    samples: Sequence[LabelSample],
    given: Given,
    plan: AnalysisPlan,
) -> Iterator[tuple[CorrectedGroups, Given]]:
    for sample in samples:
        mine = [e for e in given if (e.extractor, e.feature) == (sample.extractor, sample.feature)]
        said = labels_by_answer(mine)
        for some in answers:
            if some.extractor != sample.extractor or not any(id_ in some.row_of for id_ in said):
                continue
            rows = labelled_rows(some, sample, said)
            bounds = (sample.low, sample.high)
            for dimension in some.groups:
                groups = CorrectedGroups(
                    rows, sample.feature, dimension, bounds, plan.comparisons, plan.ranges
                )
                yield groups, [each for each in mine if each.response_id in some.row_of]


def _pairs(part: CorrectedGroups) -> Sequence[ComparedGroups]:
    return part.by_readings.compared


def _finding(
    part: CorrectedGroups, given: Given, plan: AnalysisPlan, family: int
) -> FindingCorrection:
    of = part.rows.answers
    of_people = _by_person(given)
    by_answer = labels_by_answer(given)
    threshold = _threshold(part, plan)
    rates = None if threshold is None else part.selected(threshold)
    return FindingCorrection(
        key=FindingKey(of.target, of.scaffold, of.extractor, part.feature, part.dimension),
        labels=len(given),
        people=len(of_people),
        labelled_until=max(each.at for each in given),
        instructions=tuple(sorted({each.instructions for each in given})),
        family=family,
        agreement=estimate_record(
            agreement([list(each.values()) for each in by_answer.values()], plan.alpha)
        ),
        doubtful_people=sum(each.doubtful for each in people(of_people)),
        groups=tuple(group_of(part, code, plan) for code in range(len(part.grouping.groups))),
        gaps=tuple(gap_of(part, rates, pair, plan, family) for pair in _pairs(part)),
    )


def _by_person(given: Given) -> Mapping[str, Mapping[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for each in given:
        if each.value is not None:
            found[each.person_id][each.response_id] = each.value
    return found


def group_of(part: CorrectedGroups, code: int, plan: AnalysisPlan) -> CorrectedGroup:
    """Return what labels say of one group: its mean, and the error of the instrument."""
    rows = part.grouping.codes == code
    labelled = part.labelled(code)
    threshold = _threshold(part, plan)
    error = instrument_error(labelled, part.bounds, plan.alpha, selected_at_least=threshold)
    seen = part.by_readings
    readings = GroupIntervals(seen.observations, seen.grouping, plan.claim, plan.alpha, seen.units)
    return CorrectedGroup(
        group=part.grouping.groups[code].name,
        answers=int((rows & np.isfinite(part.rows.readings)).sum()),
        labelled=len(labelled.labels),
        drawn=int((rows & part.rows.drawn).sum()),
        reading=estimate_record(readings.mean(code, 0)),
        corrected=estimate_record(part.mean(code)),
        tuning=part.tuning(code),
        units=part.units_of(code),
        widest_share=part.widest_share(code),
        bias=estimate_record(error.bias),
        absolute_error=estimate_record(error.absolute),
        sensitivity=estimate_record(error.sensitivity) if error.sensitivity else None,
        specificity=estimate_record(error.specificity) if error.specificity else None,
    )


def _threshold(part: CorrectedGroups, plan: AnalysisPlan) -> float | None:
    """Return from which value on an answer counts as selected: as declared, or of yes and no."""
    middle = sum(part.bounds) / 2 if part.yes_or_no else None
    return (plan.selected_at_least or {}).get(part.feature, middle)


def gap_of(
    part: CorrectedGroups,
    rates: CorrectedGroups | None,
    pair: ComparedGroups,
    plan: AnalysisPlan,
    family: int,
) -> CorrectedGap:
    """Return one comparison by the readings and as labels correct it, in a family of so many.

    `rates` are the same groups where answers are selected or not; None where they are not.
    """
    ratio, reading_ratio = rates.ratio(pair) if rates else (None, None)
    found = part.gap(pair, family)
    p_adjusted, p_equivalence = (
        None if p is None else min(1.0, p * family)
        for p in (found.p_disparity, found.p_equivalence)
    )
    conclusion = conclude(
        found.simultaneous, p_adjusted, p_equivalence, tolerance=plan.tolerance, alpha=plan.alpha
    )
    reading = part.by_readings.sides(pair, 0, 1).result
    sides = part.by_readings.members(pair)
    off, off_p = bias_difference(
        part.labelled_side(sides[0]), part.labelled_side(sides[1]), part.bounds, plan.alpha
    )
    names = part.grouping.groups
    return CorrectedGap(
        a=names[pair[0]].name,
        b=THE_REST if pair[1] is None else names[pair[1]].name,
        reading=estimate_record(reading.marginal),
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
