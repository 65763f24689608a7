"""Corrections: every finding that labels were given for, by the readings and by the labels."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from biaswatch.shared.analysis.findings.plans import AnalysisPlan
from biaswatch.shared.analysis.findings.run_findings import FindingKey, estimate_record
from biaswatch.shared.analysis.labels.answer_columns import AnswerColumns
from biaswatch.shared.analysis.labels.corrected_gaps import corrected_gaps, selection_threshold
from biaswatch.shared.analysis.labels.corrected_groups import CorrectedGroups
from biaswatch.shared.analysis.labels.labelled_rows import labelled_rows, labels_by_answer
from biaswatch.shared.contracts import (
    CorrectedGap,
    CorrectedGroup,
    Estimate,
    Label,
    LabelSample,
    standing_labels,
)
from biaswatch.shared.stats.labels.agreement import agreement, people


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
    family = max(1, sum(part.comparable(pair) for part, _ in parts for pair in part.compared))
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


def _finding(
    part: CorrectedGroups, given: Given, plan: AnalysisPlan, family: int
) -> FindingCorrection:
    of = part.rows.answers
    of_people = _by_person(given)
    by_answer = labels_by_answer(given)
    groups, gaps = corrected_gaps(part, selection_threshold(part, plan), plan, family)
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
        groups=groups,
        gaps=gaps,
    )


def _by_person(given: Given) -> Mapping[str, Mapping[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for each in given:
        if each.value is not None:
            found[each.person_id][each.response_id] = each.value
    return found
