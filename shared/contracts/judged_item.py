"""What judges said of pairs and of reports, as readings of an instrument that people can label."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from biaswatch.shared.contracts.evaluation import Evaluation
from biaswatch.shared.contracts.verdict import PairVerdict

ORACLE, EVALUATOR = "oracle", "evaluator"
JUDGES = (ORACLE, EVALUATOR)
"""Instruments that are no extractors: what reads pairs of answers, and what grades reports."""
EVERY = "judged"
"""The grouping in which all items are one group: how right the judges are over all."""
ALL = "all"
NO_WRITER = "given"


@dataclass(frozen=True)
class JudgedItem:
    """One pair of answers, or one report, with what the judges together said of it."""

    id: str
    """Of the pair, or of the brief: it stays the same when it is judged again."""
    unit_id: str
    at: datetime
    target: str
    scaffold: str
    groups: Mapping[str, str]
    """What is known of it, as groups; `judged` is the same for all."""
    readings: Mapping[str, float]
    """By statement or dimension: 1 and 0 for yes and no, or a score from 0 to 1."""
    judges: tuple[str, ...]


def latest_verdicts(verdicts: Iterable[PairVerdict]) -> list[PairVerdict]:
    """Return the last verdict of each pair; one by judges goes before any without them."""
    best: dict[str, PairVerdict] = {}
    for each in sorted(verdicts, key=lambda v: (v.unasked is None, v.at, v.id)):
        best[each.pair_id] = each
    return sorted(best.values(), key=lambda v: (v.target, v.scaffold, v.set_id, v.repeat))


def judged_pairs(verdicts: Iterable[PairVerdict]) -> list[JudgedItem]:
    """Return the pairs that judges were asked about; controls of judges are none."""
    return [
        JudgedItem(
            id=each.pair_id,
            unit_id=each.set_id,
            at=each.at,
            target=each.target,
            scaffold=each.scaffold,
            groups={EVERY: ALL, **each.facts},
            readings={
                name: float(finding.value)
                for name, finding in (*each.flags.items(), *each.corrected.items())
                if finding.value is not None
            },
            judges=each.judges,
        )
        for each in latest_verdicts(verdicts)
        if not each.control and each.unasked is None
    ]


def judged_reports(evaluations: Iterable[Evaluation]) -> list[JudgedItem]:
    """Return the reports that judges graded, each by the mean of a dimension."""
    return [
        JudgedItem(
            id=each.brief_id,
            unit_id=each.brief_id,
            at=each.at,
            target=each.writer or NO_WRITER,
            scaffold="direct",
            groups={EVERY: ALL},
            readings={d.dimension: d.mean for d in each.dimensions if d.mean is not None},
            judges=tuple(sorted({judgement.judge for judgement in each.judgements})),
        )
        for each in sorted(evaluations, key=lambda found: found.brief_id)
    ]
