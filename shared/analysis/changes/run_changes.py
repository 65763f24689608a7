"""Every change between two runs, as one family: gaps, means, shares of missing answers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from biaswatch.shared.analysis.changes.matched_prompts import MatchedPrompts, RunAnswers
from biaswatch.shared.analysis.changes.tested_changes import (
    GapChange,
    GapChanges,
    LevelChange,
    Levels,
    MatchedRuns,
    TestableChange,
)
from biaswatch.shared.analysis.findings.groupings import (
    THE_REST,
    ComparisonPlan,
    Grouping,
    grouping,
)
from biaswatch.shared.analysis.findings.observations import Whole, coded
from biaswatch.shared.stats.comparisons.changes import ChangeResult
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.comparisons.verdicts import NEVER_VARY, conclude
from biaswatch.shared.stats.estimate import Estimate, Verdict


class ChangeVerdict(StrEnum):
    """What a test of a change concludes."""

    CHANGED = "changed"
    NO_CHANGE = "no_change"
    """None beyond the tolerance."""
    NOT_ENOUGH = "not_enough_evidence"


@dataclass(frozen=True)
class ChangeConclusion:
    """A verdict on a change and why it is this one."""

    verdict: ChangeVerdict
    reason: str
    p_adjusted: float | None = None
    p_equivalence_adjusted: float | None = None


def conclude_change(
    change_result: ChangeResult, *, tolerance: float, alpha: float, family: int
) -> ChangeConclusion:
    """Conclude as of a gap, after the correction of the family (Bonferroni)."""
    change = change_result.result.simultaneous
    p_values = (change_result.result.p_disparity, change_result.result.p_equivalence)
    changed, within = (None if p is None else min(1.0, p * family) for p in p_values)
    if change_result.result.known:
        return ChangeConclusion(ChangeVerdict.CHANGED, NEVER_VARY, changed, within)
    decision = conclude(change, changed, within, tolerance=tolerance, alpha=alpha).verdict
    verdict, reason = _SAID[decision]
    if decision is Verdict.DISPARITY:
        reason = reason.format(side="the tolerance" if tolerance else "0")
    elif decision is Verdict.NOT_ENOUGH:
        where = "changes on both sides of the tolerance" if tolerance else "a change of 0"
        reason = change.reason or reason.format(where=where)
    return ChangeConclusion(verdict, reason, changed, within)


def stands(
    conclusion: ChangeConclusion,
    change: float | None,
    worst: Iterable[GapResult],
    *,
    alpha: float,
    family: int,
) -> bool:
    """Return whether a verdict, in its direction, is the same with each of these results."""
    return all(_same(conclusion.verdict, change or 0.0, result, alpha, family) for result in worst)


def _same(
    verdict: ChangeVerdict, change: float, worst: GapResult, alpha: float, family: int
) -> bool:
    p_value = worst.p_equivalence
    if verdict is ChangeVerdict.CHANGED:
        if (worst.marginal.value or 0.0) * change <= 0:
            return False
        p_value = worst.p_disparity
    return p_value is not None and min(1.0, p_value * family) <= alpha


_SAID = {
    Verdict.DISPARITY: (
        ChangeVerdict.CHANGED, "the change is beyond {side}, at the family's level"
    ),
    Verdict.NO_DISPARITY: (ChangeVerdict.NO_CHANGE, "the change is within the tolerance"),
    Verdict.NOT_ENOUGH: (
        ChangeVerdict.NOT_ENOUGH, "{where} cannot be excluded at the family's level"
    ),
}  # fmt: skip


KNOWN = "every prompt was always answered alike in each run: the change of these prompts is known"


class ChangeOf(StrEnum):
    """What may have changed."""

    GAP = "gap"
    """The gap of two groups."""
    MEAN = "mean"
    """The mean of a feature, over all prompts or over those of a group."""
    MISSING = "missing"
    """The share of missing answers, likewise."""


@dataclass(frozen=True)
class ChangePlan:
    """What is declared before anybody looks."""

    comparisons: ComparisonPlan
    """Level, claim, and the largest change of a gap or a mean that does not matter."""
    missing_tolerance: float = 0.0
    """The largest change of a share of missing answers that does not matter."""


@dataclass(frozen=True)
class ChangeSubject:
    """Of what a change is."""

    of: ChangeOf
    feature: str
    domain: str
    dimension: str | None = None
    """None where all prompts are meant."""
    a: str | None = None
    """The group, or the first of two."""
    b: str | None = None


@dataclass(frozen=True)
class RunChange:
    """A change between two runs, with what may be concluded."""

    subject: ChangeSubject
    before: float | None
    after: float | None
    change: Estimate
    """After less before, with the interval that the verdict is read from: one of the family."""
    by_itself: Estimate
    p_value: float | None
    """For a change of at most the tolerance, before correction; so is the next."""
    p_equivalence: float | None
    p_adjusted: float | None
    p_equivalence_adjusted: float | None
    verdict: ChangeVerdict
    reason: str
    survives_missing: bool | None
    """Whether the verdict stands whatever the missing answers were; None without a verdict."""
    prompts: int
    n_before: int
    """Answers with a value."""
    n_after: int
    n_missing_before: int
    n_missing_after: int


@dataclass(frozen=True)
class RunChanges:
    """All changes between two runs, and how many tests were declared together."""

    changes: list[RunChange]
    family: int


@dataclass(frozen=True)
class _Question:
    subject: ChangeSubject
    asked: TestableChange
    runs: MatchedRuns
    feature: int
    tolerance: float


def compare_runs(matched: MatchedPrompts, plan: ChangePlan) -> RunChanges:
    """Test every change between two runs on the prompts that both have.

    A prompt's change is one value; the gap of two groups' changes is the change of their gap, and
    is compared as gaps are: within the sets that both have, singly elsewhere. All tests are one
    family, corrected in a single step (Bonferroni), so that "something changed" is said of two
    equal runs with a probability of at most alpha, and intervals agree with verdicts.
    """
    questions = [*_values_asked(matched, plan), *_missing_asked(matched, plan)]
    family = max(1, sum(question.asked.testable for question in questions))
    return RunChanges([_answered(question, family) for question in questions], family)


def _values_asked(matched: MatchedPrompts, plan: ChangePlan) -> Iterator[_Question]:
    runs, tolerance = MatchedRuns(matched, plan.comparisons), plan.comparisons.tolerance
    for one in _groupings(matched):
        gaps = GapChanges(runs, one)
        for pair in gaps.sampled.compared:
            a = one.groups[pair[0]]
            b = THE_REST if pair[1] is None else one.groups[pair[1]].name
            for index, feature in enumerate(matched.features):
                subject = ChangeSubject(
                    ChangeOf.GAP, feature, one.domains[a.domain], one.name, a.name, b
                )
                yield _Question(subject, GapChange(gaps, pair, index), runs, index, tolerance)
    yield from _levels_asked(runs, ChangeOf.MEAN, tolerance)


def _missing_asked(matched: MatchedPrompts, plan: ChangePlan) -> Iterator[_Question]:
    runs = MatchedRuns(matched.missing_shares(), plan.comparisons)
    yield from _levels_asked(runs, ChangeOf.MISSING, plan.missing_tolerance)


def _levels_asked(runs: MatchedRuns, of: ChangeOf, tolerance: float) -> Iterator[_Question]:
    for domain, dimension, group, prompts in _sides(runs.matched):
        levels = Levels(runs, prompts)
        for index, feature in enumerate(runs.matched.features):
            subject = ChangeSubject(of, feature, domain, dimension, group)
            change = LevelChange(levels, index, tolerance)
            yield _Question(subject, change, runs, index, tolerance)


def _sides(matched: MatchedPrompts) -> Iterator[tuple[str, str | None, str | None, Whole]]:
    """Return all prompts of each domain, then those of each group: (domain, dimension, group)."""
    codes, domains = coded(matched.domains)
    for code, domain in enumerate(domains):
        yield domain, None, None, np.flatnonzero(codes == code)
    for one in _groupings(matched):
        for code, group in enumerate(one.groups):
            prompts = np.flatnonzero(one.codes == code)
            yield one.domains[group.domain], one.name, group.name, prompts


def _groupings(matched: MatchedPrompts) -> list[Grouping]:
    return [grouping(matched.changes, (dimension,)) for dimension in matched.groups]


def _answered(question: _Question, family: int) -> RunChange:
    alpha, tested = question.runs.plan.alpha, question.asked.tested(family)
    drawn = conclude_change(tested, tolerance=question.tolerance, alpha=alpha, family=family)
    result = _in_words_of_runs(tested.result)
    before, after = (
        _counts(run, question)
        for run in (question.runs.matched.before, question.runs.matched.after)
    )
    survives, reason = _survival(question, drawn, tested, before[1] + after[1], family)
    return RunChange(
        subject=question.subject,
        before=tested.before,
        after=tested.after,
        change=one_of(result.simultaneous, family),
        by_itself=result.marginal,
        p_value=result.p_disparity,
        p_equivalence=result.p_equivalence,
        p_adjusted=drawn.p_adjusted,
        p_equivalence_adjusted=drawn.p_equivalence_adjusted,
        verdict=drawn.verdict,
        reason=reason,
        survives_missing=survives,
        prompts=len(question.asked.prompts),
        n_before=before[0],
        n_after=after[0],
        n_missing_before=before[1],
        n_missing_after=after[1],
    )


def _survival(
    question: _Question, drawn: ChangeConclusion, result: ChangeResult, missing: int, family: int
) -> tuple[bool | None, str]:
    """Return whether a verdict stands whatever the missing answers were, and what is said."""
    if drawn.verdict is ChangeVerdict.NOT_ENOUGH:
        return None, drawn.reason
    if not missing:
        return True, drawn.reason
    change, alpha = result.result.marginal.value, question.runs.plan.alpha
    survives = stands(drawn, change, question.asked.at_worst(), alpha=alpha, family=family)
    could = "cannot" if survives else "could"
    return survives, f"{drawn.reason}; the {missing} missing answers {could} undo it"


def _counts(run: RunAnswers, question: _Question) -> tuple[int, int]:
    """Return how many answers of a run have a value, and how many are missing."""
    rows = np.isin(run.prompts, question.asked.prompts)
    present = int(np.isfinite(run.values[rows, question.feature]).sum())
    return present, int(rows.sum()) - present


def one_of(change: Estimate, family: int) -> Estimate:
    """Return an interval that says how many there are together with it."""
    return replace(change, method=f"{change.method}, one of {family}") if family > 1 else change


def _in_words_of_runs(result: GapResult) -> GapResult:
    """Return a result whose reason, where it is known, is about both runs."""
    if not result.known:
        return result
    value = replace(result.marginal, reason=KNOWN)
    return replace(result, marginal=value, simultaneous=value)
