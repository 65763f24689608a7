"""Judges of a run: their examination, the verdicts that count, and rates corrected by errors."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log

from biaswatch.shared.analysis.judges.controls import outcome_of
from biaswatch.shared.analysis.judges.languages import LANGUAGES, language_of
from biaswatch.shared.analysis.judges.stories import COMPATIBLE, FIT, GUESS
from biaswatch.shared.contracts import Check, Estimate, PairVerdict
from biaswatch.shared.contracts.judge_votes import (
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
from biaswatch.shared.stats.estimate import undefined
from biaswatch.shared.stats.judges.agreement import binary_agreement
from biaswatch.shared.stats.judges.corrected_rates import corrected_rate
from biaswatch.shared.stats.judges.examination import examine
from biaswatch.shared.stats.judges.results import ControlOutcome, KindResult
from biaswatch.shared.stats.studies.answer_pairs import Statements

KIND_OF = {
    **dict.fromkeys((A_TO_B, B_TO_A, OWN_A, OWN_B), FIT),
    COMPATIBLE: COMPATIBLE,
    **dict.fromkeys((GUESS_A, GUESS_B), GUESS),
}
"""The kind of control of each check."""


def judge_controls(
    verdicts: Sequence[PairVerdict], *, examined: bool = True
) -> list[JudgeControls]:
    """Return the results of each judge for each kind of question and language.

    With `examined`, judges were given controls: a language of the pairs without any has a result
    that is not believed.
    """
    results = [
        JudgeControls(judge=verdict.target, result=result)
        for verdict in verdicts
        if verdict.control
        for result in examine(_outcomes(verdict))
    ]
    return results + list(_not_examined(verdicts, results)) if examined else results


def _not_examined(
    verdicts: Iterable[PairVerdict], results: Sequence[JudgeControls]
) -> Iterator[JudgeControls]:
    """Yield the kinds of questions to judges in languages without controls."""
    judges = {row.judge for row in results}
    known = {(row.judge, row.kind, row.language) for row in results}
    questions = dict.fromkeys(
        (check.judge, KIND_OF[check.name], language_of(verdict.facts))
        for verdict in verdicts
        for check in verdict.checks
        if not verdict.control and check.name in KIND_OF
    )
    for judge, kind, language in questions:
        unknown = (judge, kind, language) not in known
        if unknown and (judge in judges or language not in LANGUAGES):
            reason = f"not examined in the language {language!r}"
            none = undefined(reason)
            result = KindResult(kind, none, none, believed=False, reason=reason, language=language)
            yield JudgeControls(judge=judge, result=result)


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
    verdicts: Sequence[PairVerdict], judges: Sequence[JudgeControls], *, weighted: bool = False
) -> list[PairVerdict]:
    """Return the verdicts as the votes of judges give them that are believed for their kind.

    A weighted jury weighs votes by the log odds that a judge is right on controls of their kind,
    which is the best rule for independent judges.

    References
    ----------
    Nitzan and Paroush (1982), Optimal decision rules in uncertain dichotomous choice situations.
    """
    weights = {(row.judge, row.kind, row.language): _log_odds(row) for row in judges}
    failed = {(judge.judge, judge.kind, judge.language) for judge in judges if judge.fails}

    def counted(verdict: PairVerdict) -> PairVerdict:
        language = language_of(verdict.facts)

        def counts(check: Check) -> bool:
            return (check.judge, KIND_OF.get(check.name), language) not in failed

        def weight(check: Check) -> float:
            return weights.get((check.judge, KIND_OF[check.name], language), 1.0)

        if verdict.control:
            return verdict
        return with_votes_of(verdict, counts, *([weight] if weighted else []))

    return list(map(counted, verdicts))


def _log_odds(judge: JudgeControls) -> float:
    """Return the log odds of a right reply, with one right and one wrong reply added."""
    right, controls = sum(judge.result.right), sum(judge.result.controls)
    return max(log((right + 1) / (controls - right + 1)), 0.0)


def only_votes_of(verdicts: Iterable[PairVerdict], judge: JudgeControls) -> list[PairVerdict]:
    """Return the pairs in a language by the votes of one judge on one kind of question."""

    def counts(check: Check) -> bool:
        return check.judge == judge.judge and KIND_OF.get(check.name) == judge.kind

    own = [verdict for verdict in verdicts if language_of(verdict.facts) == judge.language]
    return [with_votes_of(verdict, counts) for verdict in own]


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
    corrected, languages = {}, {language_of(verdict.facts) for verdict in verdicts}
    for name, check in {**FLAGS, OWN_A: OWN_A, OWN_B: OWN_B, COMPATIBLE: COMPATIBLE}.items():
        names = {c.judge for verdict in verdicts for c in verdict.checks if c.name == check}
        own = [j for j in judges if j.kind == KIND_OF[check] and j.language in languages]
        results = [j for j in own if j.judge in names]
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
