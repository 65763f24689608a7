"""Changes between two runs: a family of gaps, and one of means and shares of missing answers."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from biaswatch.shared.analysis.findings.groupings import (
    THE_REST,
    ComparisonPlan,
    Grouping,
    GroupPair,
    grouping,
)
from biaswatch.shared.analysis.findings.observations import Observations, Whole, coded
from biaswatch.shared.analysis.findings.worst_cases import undoing, verdict_holds
from biaswatch.shared.stats.comparisons.changes import ChangeResult
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.comparisons.tolerance_tests import NEVER_VARY, conclude
from biaswatch.shared.stats.estimate import Estimate, Verdict

KNOWN = "every prompt was always answered alike in each run: the change of these prompts is known"


class ChangeVerdict(StrEnum):
    """The conclusion of a test of a change."""

    CHANGED = "changed"
    NO_CHANGE = "no_change"
    """No change beyond the tolerance."""
    INCONCLUSIVE = "inconclusive"


class ChangeOf(StrEnum):
    """The kind of quantity that may have changed."""

    GAP = "gap"
    """The gap of two groups."""
    MEAN = "mean"
    """The mean of a feature, over all prompts or over those of a group."""
    MISSING = "missing"
    """The share of missing answers, likewise."""


@dataclass(frozen=True)
class ChangePlan:
    """The tests declared in advance."""

    comparisons: ComparisonPlan
    """Level, claim, and the largest change of a gap or a mean that does not matter."""
    missing_tolerance: float = 0.0
    """The largest change of a share of missing answers that does not matter."""


@dataclass(frozen=True)
class ChangeSubject:
    """The quantity that may have changed."""

    of: ChangeOf
    feature: str
    domain: str
    dimension: str | None = None
    """None for all prompts."""
    a: str | None = None
    """The group, or the first of two."""
    b: str | None = None

    @property
    def is_gap(self) -> bool:
        """True for the gap of two groups."""
        return self.of is ChangeOf.GAP


@dataclass(frozen=True)
class RunChange:
    """A change between two runs, with what may be concluded."""

    subject: ChangeSubject
    before: float | None
    after: float | None
    change: Estimate
    """After minus before, with the interval that the verdict is read from: one of the family."""
    by_itself: Estimate
    p_value: float | None
    """For a change of at most the tolerance, before correction."""
    p_equivalence: float | None
    """For a change of at least the tolerance, before correction."""
    p_adjusted: float | None
    p_equivalence_adjusted: float | None
    verdict: ChangeVerdict
    reason: str
    survives_missing: bool | None
    """False where the missing answers could overturn the verdict; None without a verdict."""
    prompts: int
    n_before: int
    """Answers with a value."""
    n_after: int
    n_missing_before: int
    n_missing_after: int


@dataclass(frozen=True)
class RunChanges:
    """All changes between two runs, and how many tests were corrected together."""

    changes: list[RunChange]
    gaps: int
    """Tests of gaps, which are one family."""
    levels: int
    """Tests of means and of shares of missing answers, which are another."""


@dataclass(frozen=True)
class AnswerCounts:
    """Prompts behind a change, and answers of each run with and without a value."""

    prompts: int
    n_before: int
    n_after: int
    n_missing_before: int
    n_missing_after: int


@dataclass(frozen=True)
class ChangeTest(ABC):
    """The test of one change."""

    subject: ChangeSubject
    tolerance: float

    @property
    def testable(self) -> bool:
        """True if each side has two units, so that the test is one of the family."""
        return self.result(1).result.p_disparity is not None

    @abstractmethod
    def result(self, family: int) -> ChangeResult:
        """Return the change with its tests; `family` is the size of the family."""

    @abstractmethod
    def at_worst(self) -> Iterable[GapResult]:
        """Return the change with the missing answers least favourable for either side."""

    @abstractmethod
    def counts(self) -> AnswerCounts:
        """Return the prompts and answers behind the change."""


def run_changes(tests: Sequence[ChangeTest], alpha: float) -> RunChanges:
    """Conclude every test, with Bonferroni's correction over its family.

    Whether gaps changed is one question, whether levels did is another. Of two equal runs, each is
    answered with a change with a probability of at most alpha.
    """
    sizes = Counter(test.subject.is_gap for test in tests if test.testable)
    changes = [_run_change(test, alpha, max(1, sizes[test.subject.is_gap])) for test in tests]
    return RunChanges(changes, gaps=sizes[True], levels=sizes[False])


def gap_subject(grouping: Grouping, pair: GroupPair, feature: str) -> ChangeSubject:
    """Return the gap of a pair of groups as a subject of a change."""
    a = grouping.groups[pair[0]]
    b = THE_REST if pair[1] is None else grouping.groups[pair[1]].name
    domain = grouping.domains[a.domain]
    return ChangeSubject(ChangeOf.GAP, feature, domain, grouping.name, a.name, b)


def level_subjects(
    answers: Observations, of: ChangeOf
) -> Iterator[tuple[Whole, Callable[[str], ChangeSubject]]]:
    """Yield the rows of each domain, then of each group, and their subject for a feature."""
    codes, domains = coded(answers.domains or [""] * answers.rows)
    for code, domain in enumerate(domains):
        yield np.flatnonzero(codes == code), _subject(of, domain)
    for dimension in answers.groups:
        groups = grouping(answers, (dimension,))
        for code, group in enumerate(groups.groups):
            domain = groups.domains[group.domain]
            yield np.flatnonzero(groups.codes == code), _subject(of, domain, dimension, group.name)


def _subject(of: ChangeOf, domain: str, *group: str) -> Callable[[str], ChangeSubject]:
    return lambda feature: ChangeSubject(of, feature, domain, *group)


def _run_change(test: ChangeTest, alpha: float, family: int) -> RunChange:
    change_result, counts = test.result(family), test.counts()
    result = change_result.result
    changed, within = (
        None if p is None else min(1.0, p * family)
        for p in (result.p_disparity, result.p_equivalence)
    )
    verdict, reason = _conclusion(result, changed, within, test.tolerance, alpha)
    survives = None
    if verdict is not ChangeVerdict.INCONCLUSIVE:
        missing = counts.n_missing_before + counts.n_missing_after
        survives = not missing or all(
            verdict_holds(
                worst, result.marginal.value, differs=verdict is ChangeVerdict.CHANGED,
                alpha=alpha, family=family,
            )
            for worst in test.at_worst()
        )  # fmt: skip
        reason += f"; {undoing(missing, survives=survives)}" if missing else ""
    change, by_itself = result.simultaneous, result.marginal
    if result.known:
        change = by_itself = replace(by_itself, reason=KNOWN)
    if family > 1:
        change = replace(change, method=f"{change.method}, one of {family} comparisons")
    return RunChange(
        subject=test.subject,
        before=change_result.before,
        after=change_result.after,
        change=change,
        by_itself=by_itself,
        p_value=result.p_disparity,
        p_equivalence=result.p_equivalence,
        p_adjusted=changed,
        p_equivalence_adjusted=within,
        verdict=verdict,
        reason=reason,
        survives_missing=survives,
        **vars(counts),
    )


def _conclusion(
    result: GapResult, changed: float | None, within: float | None, tolerance: float, alpha: float
) -> tuple[ChangeVerdict, str]:
    """Conclude from corrected p-values, as of a gap."""
    if result.known:
        return ChangeVerdict.CHANGED, NEVER_VARY
    change = result.simultaneous
    match conclude(change, changed, within, tolerance=tolerance, alpha=alpha).verdict:
        case Verdict.DISPARITY:
            limit = "the tolerance" if tolerance else "0"
            return ChangeVerdict.CHANGED, f"the change is beyond {limit}, at the family's level"
        case Verdict.NO_DISPARITY:
            return ChangeVerdict.NO_CHANGE, "the change is within the tolerance"
        case _:
            range_ = "changes on both sides of the tolerance" if tolerance else "a change of 0"
            reason = f"{range_} cannot be excluded at the family's level"
            return ChangeVerdict.INCONCLUSIVE, change.reason or reason
