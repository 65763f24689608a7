"""The result of a gate: a finding fails it, and without enough measured answers it never passes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import inf

from biaswatch.checks.compared import CheckedComparison
from biaswatch.shared.contracts import LEAST_MEASURED_SHARE, Verdict
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import COULD_UNDO, NOTHING_COMPARED, number

MOST_NAMED = 5
"""Groups or comparisons that one sentence names."""
CHANGED, NO_CHANGE = "changed", "no_change"
"""The verdicts of `compare`."""


class CheckCode(IntEnum):
    """How a gate ends, as an exit code."""

    PASSED = 0
    FAILED = 1
    NOT_MEASURED = 3


@dataclass(frozen=True)
class CheckRule:
    """The conditions under which a gate fails or passes."""

    least_size: float = 0.0
    """The smallest gap or change that fails the gate."""
    least_share: float = LEAST_MEASURED_SHARE
    """The smallest share of measured answers in each group that counts as measured."""
    verdict: str = Verdict.DISPARITY.value
    """The verdict that fails the gate."""

    def __post_init__(self) -> None:
        if not 0 <= self.least_size < inf:
            raise UsageError(f"`least` is {self.least_size:g}; write a size of 0 or more.")
        if not 0 <= self.least_share <= 1:
            raise UsageError(
                f"`min_measured` is {self.least_share:g}; write a share between 0 and 1."
            )

    def fails(self, comparison: CheckedComparison) -> bool:
        """Return whether this comparison alone fails the gate."""
        is_large = abs(comparison.size or 0.0) >= self.least_size
        return comparison.verdict == self.verdict and is_large

    def counted(self, comparisons: int) -> str:
        """Return how many comparisons, in words."""
        noun = "change" if self.verdict == CHANGED else "comparison"
        return f"{comparisons} {noun}{'' if comparisons == 1 else 's'}"

    def shown(self, comparisons: int) -> str:
        """Return the verb and object that follow a count of comparisons."""
        singular = comparisons == 1
        if self.verdict == CHANGED:
            words = "is concluded" if singular else "are concluded"
        else:
            words = "shows a disparity" if singular else "show a disparity"
        return f"{words} of at least {number(self.least_size)}" if self.least_size else words


@dataclass(frozen=True)
class CheckResult:
    """How a gate ended, and why."""

    code: CheckCode
    reasons: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The result with its reasons."""
        return f"{_HEADS[self.code]}: {' '.join(self.reasons)}"


_HEADS = {
    CheckCode.PASSED: "Gate passed",
    CheckCode.FAILED: "Gate failed",
    CheckCode.NOT_MEASURED: "Gate not passed",
}


def check_result(
    compared: Sequence[CheckedComparison], rule: CheckRule, incomplete: str | None = None
) -> CheckResult:
    """Return how a gate ends.

    A finding fails it, whatever else is missing. Without one it passes only where groups were
    compared, every group has the least share of measured answers, and the run is complete.

    Parameters
    ----------
    compared
        Every comparison that the gate looks at.
    rule
        The conditions of the gate.
    incomplete
        Why the run is not complete; None for a complete one and for a table.
    """
    failing = [comparison for comparison in compared if rule.fails(comparison)]
    open_ = [*_unmeasured(compared, rule), *filter(None, [incomplete])]
    if failing:
        return CheckResult(CheckCode.FAILED, (_failed(failing, len(compared), rule), *open_))
    if open_:
        return CheckResult(CheckCode.NOT_MEASURED, tuple(open_))
    return CheckResult(CheckCode.PASSED, tuple(_passed(compared, rule)))


def measurement_warnings(compared: Sequence[CheckedComparison], rule: CheckRule) -> Iterator[str]:
    """Return sentences on the effect of missing answers on verdicts."""
    for one, words, verdicts in (
        ("the disparity", "disparities", {Verdict.DISPARITY.value}),
        ("the change", "changes", {CHANGED}),
        ("the verdict of no disparity", "verdicts of no disparity", {Verdict.NO_DISPARITY.value}),
        ("the verdict of no change", "verdicts of no change", {NO_CHANGE}),
    ):
        concluded = [comparison for comparison in compared if comparison.verdict in verdicts]
        if undone := [of.name_with_missing for of in concluded if of.is_undone]:
            which = f"{len(undone)} of {len(concluded)} {words}" if len(concluded) > 1 else one
            yield (
                f"The missing answers could undo {which}, were they the least favourable ones:"
                f" {_listed(undone)}."
            )
    if compared:
        yield from _unmeasured(compared, rule)


def _unmeasured(compared: Sequence[CheckedComparison], rule: CheckRule) -> Iterator[str]:
    """Say which groups have too few measured answers, each of them once."""
    if not compared:
        yield f"Nothing was measured. {NOTHING_COMPARED}"
        return
    lacking = [one for one in compared if not one.is_measured(rule.least_share)]
    if not lacking:
        return
    if all(comparison.is_empty for comparison in compared if comparison.sides):
        head = f"Nothing was measured in {rule.counted(len(lacking))}"
    else:
        head = (
            f"Too little was measured in {len(lacking)} of {rule.counted(len(compared))}, less than"
            f" {100 * rule.least_share:g} % of the answers about a group"
        )
    yield f"{head} ({_listed(_places(lacking, rule))})."


def _places(lacking: Sequence[CheckedComparison], rule: CheckRule) -> list[str]:
    """Return by feature and target which groups have too few measured answers, each once."""
    sides: dict[str, dict[str, None]] = {}
    for comparison in lacking:
        few = (side for side in comparison.sides if not side.is_enough(rule.least_share))
        sides.setdefault(comparison.where, {}).update((side.in_words(), None) for side in few)
    return [f"{where}: {_listed(list(few), ', ')}" for where, few in sides.items()]


def _failed(failing: Sequence[CheckedComparison], of: int, rule: CheckRule) -> str:
    undone = [comparison.name for comparison in failing if comparison.is_undone]
    doubt = ""
    if undone and len(failing) == 1:
        doubt = f", but {COULD_UNDO}"
    elif undone:
        which = "each" if len(undone) == len(failing) else f"{len(undone)}"
        doubt = f"; the missing answers could undo {which} of them: {_listed(undone)}"
    return f"{len(failing)} of {rule.counted(of)} {rule.shown(len(failing))}{doubt}."


def _passed(compared: Sequence[CheckedComparison], rule: CheckRule) -> Iterator[str]:
    of = f"None of {rule.counted(len(compared))}" if len(compared) > 1 else "No comparison"
    yield f"{of} {rule.shown(1)}."
    if undecided := sum(comparison.is_undecided for comparison in compared):
        equal = "the runs are alike" if rule.verdict == CHANGED else "groups are treated alike"
        are = "is" if undecided == 1 else "are"
        yield f"{undecided} of them {are} inconclusive, which does not show that {equal}."
    if undone := [comparison.name for comparison in compared if comparison.is_undone]:
        yield f"The missing answers could undo {len(undone)} verdicts: {_listed(undone)}."


def _listed(names: Sequence[str], separator: str = "; ") -> str:
    more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return separator.join([*names[:MOST_NAMED], *more])
