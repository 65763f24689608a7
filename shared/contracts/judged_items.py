"""Judged pairs and reports, as items whose judgements people may label."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from biaswatch.shared.contracts.evaluation import Evaluation
from biaswatch.shared.contracts.pair_verdict import PairVerdict, latest_verdicts

ORACLE, EVALUATOR = "oracle", "evaluator"
JUDGES = (ORACLE, EVALUATOR)
"""Instruments that are no extractors: what reads pairs of answers, and what grades reports."""
TEMPLATE = "template"
"""Fact of a pair that names its template, a cluster and not a group."""
EVERY = "judged"
"""The grouping with all items in one group: the accuracy of judges over all."""
ALL = "all"
NO_WRITER = "given"


@dataclass(frozen=True)
class JudgedItem:
    """One pair of answers, or one report, with what the judges together said of it."""

    id: str
    """The id of the pair or the brief: it stays the same when it is judged again."""
    unit_id: str
    at: datetime
    target: str
    scaffold: str
    groups: Mapping[str, str]
    """Known facts as groups; `judged` is the same for all."""
    readings: Mapping[str, float]
    """By statement or dimension: 1 and 0 for yes and no, or a score from 0 to 1."""
    judges: tuple[str, ...]


def judged_pairs(verdicts: Iterable[PairVerdict]) -> list[JudgedItem]:
    """Return the judged pairs, without controls."""
    return [
        JudgedItem(
            id=verdict.pair_id,
            unit_id=verdict.set_id,
            at=verdict.at,
            target=verdict.target,
            scaffold=verdict.scaffold,
            groups={EVERY: ALL, **{k: v for k, v in verdict.facts.items() if k != TEMPLATE}},
            readings={
                name: float(finding.value)
                for name, finding in (*verdict.flags.items(), *verdict.corrected.items())
                if finding.value is not None
            },
            judges=verdict.judges,
        )
        for verdict in latest_verdicts(verdicts)
        if not verdict.control and verdict.unasked is None
    ]


def judged_reports(evaluations: Iterable[Evaluation]) -> list[JudgedItem]:
    """Return the reports that judges graded, each by the mean of a dimension."""
    return [
        JudgedItem(
            id=evaluation.brief_id,
            unit_id=evaluation.brief_id,
            at=evaluation.at,
            target=evaluation.writer or NO_WRITER,
            scaffold="direct",
            groups={EVERY: ALL},
            readings={d.dimension: d.mean for d in evaluation.dimensions if d.mean is not None},
            judges=tuple(sorted({judgement.judge for judgement in evaluation.judgements})),
        )
        for evaluation in sorted(evaluations, key=lambda evaluation: evaluation.brief_id)
    ]
