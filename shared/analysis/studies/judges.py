"""Judges of a run: their examination, the verdicts that count, and rates corrected by errors."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from biaswatch.shared.analysis.judges.controls import outcome_of
from biaswatch.shared.analysis.judges.stories import COMPATIBLE, FIT, GUESS
from biaswatch.shared.contracts import Check, Estimate, PairVerdict
from biaswatch.shared.contracts.pair_verdict import (
    A_TO_B,
    B_TO_A,
    FLAGS,
    GUESS_A,
    GUESS_B,
    OWN_A,
    OWN_B,
    is_answered,
    is_bad,
    with_votes_of,
)
from biaswatch.shared.requests.run_views import JudgeControls
from biaswatch.shared.stats.judges.agreement import binary_agreement
from biaswatch.shared.stats.judges.corrected_rates import corrected_rate
from biaswatch.shared.stats.judges.examination import examine
from biaswatch.shared.stats.judges.results import ControlOutcome
from biaswatch.shared.stats.studies.answer_pairs import Statements

KIND_OF = {
    **dict.fromkeys((A_TO_B, B_TO_A, OWN_A, OWN_B), FIT),
    COMPATIBLE: COMPATIBLE,
    **dict.fromkeys((GUESS_A, GUESS_B), GUESS),
}
"""The kind of control of each check."""


def judge_controls(verdicts: Iterable[PairVerdict]) -> list[JudgeControls]:
    """Return the results of each judge for each kind of question."""
    return [
        JudgeControls(judge=verdict.target, result=result)
        for verdict in verdicts
        if verdict.control
        for result in examine(_outcomes(verdict))
    ]


def _outcomes(verdict: PairVerdict) -> Iterator[ControlOutcome]:
    for check in verdict.checks:
        outcome = outcome_of(
            check.name,
            check.said,
            check.expected,
            verdict.facts,
            answered=is_answered(check),
            copied=check.copied,
        )
        if outcome:
            yield outcome


def counted_verdicts(
    verdicts: Sequence[PairVerdict], judges: Sequence[JudgeControls]
) -> list[PairVerdict]:
    """Return the verdicts as the votes of judges give them that are believed for their kind."""
    failed = {(judge.judge, judge.kind) for judge in judges if judge.fails}

    def counts(check: Check) -> bool:
        return (check.judge, KIND_OF.get(check.name)) not in failed

    return [verdict if verdict.control else with_votes_of(verdict, counts) for verdict in verdicts]


def only_votes_of(verdicts: Iterable[PairVerdict], judge: JudgeControls) -> list[PairVerdict]:
    """Return the verdicts by the votes of one judge on one kind of question."""

    def counts(check: Check) -> bool:
        return check.judge == judge.judge and KIND_OF.get(check.name) == judge.kind

    return [with_votes_of(verdict, counts) for verdict in verdicts]


def agreements(
    verdicts: Sequence[PairVerdict], templates: Sequence[str | None], alpha: float
) -> dict[str, Estimate]:
    """Return the agreement of judges in each kind of question; empty for one judge."""
    known = all(template is not None for template in templates)
    votes: dict[str, list[tuple[int, int]]] = defaultdict(list)
    clusters: dict[str, list[str]] = defaultdict(list)
    for verdict, template in zip(verdicts, templates, strict=True):
        for name, kind in KIND_OF.items():
            bad = [is_bad(c) for c in verdict.checks if c.name == name and c.said is not None]
            votes[kind].append((sum(bad), len(bad)))
            clusters[kind].append(str(template) if known else verdict.pair_id)
    unit = "templates" if known else "pairs"
    return {
        kind: binary_agreement(rows, clusters[kind], alpha, unit=unit)
        for kind, rows in votes.items()
        if any(count > 1 for _, count in rows)
    }


def corrected_shares(
    verdicts: Sequence[PairVerdict],
    rows: Sequence[Statements],
    templates: Sequence[str | None],
    judges: Sequence[JudgeControls],
    alpha: float,
) -> Mapping[str, Estimate]:
    """Return the shares corrected by errors on controls, of statements that one judge makes.

    They hold if the judge errs on these texts as often as on the controls.
    """
    corrected = {}
    for name, check in {**FLAGS, OWN_A: OWN_A, OWN_B: OWN_B, COMPATIBLE: COMPATIBLE}.items():
        names = {c.judge for verdict in verdicts for c in verdict.checks if c.name == check}
        results = [j for j in judges if j.judge in names and j.kind == KIND_OF[check]]
        if len(names) == len(results) == 1 and all(results[0].result.controls):
            corrected[name] = corrected_rate(
                _clusters([row.get(name) for row in rows], templates),
                **_errors(results[0], is_flag=name in FLAGS),
                alpha=alpha,
            )
    return corrected


def _errors(judge: JudgeControls, *, is_flag: bool) -> Mapping[str, tuple[int, int]]:
    """Return right controls and all controls, with the statement and without it.

    A flag of a reasoning is raised by a no; a guess is right or wrong in the same way everywhere.
    """
    yes, no = zip(judge.result.right, judge.result.controls, strict=True)
    if judge.kind == GUESS:
        both = yes[0] + no[0], yes[1] + no[1]
        return {"sensitivity": both, "specificity": both}
    return {"sensitivity": no if is_flag else yes, "specificity": yes if is_flag else no}


def _clusters(
    values: Sequence[bool | None], templates: Sequence[str | None]
) -> Sequence[tuple[int, int]]:
    """Return (true, judged) of each template; of all pairs together where any is unknown."""
    known = all(template is not None for template in templates)
    counts: dict[str | None, list[int]] = defaultdict(lambda: [0, 0])
    for value, template in zip(values, templates, strict=True):
        if value is not None:
            counts[template if known else None][0] += value
            counts[template if known else None][1] += 1
    return [(true, judged) for true, judged in counts.values()]
