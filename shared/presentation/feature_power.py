"""The gaps that a run is likely to find, from the intervals of an earlier run of its suite."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from biaswatch.shared.contracts import Diagnosis, Estimate, Gap, GroupSummary
from biaswatch.shared.formatting import number
from biaswatch.shared.lookup import grouped
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.stats.comparisons.planned_power import (
    POWER,
    findable_gap,
    interval_quantile,
    repeated_half_width,
)


@dataclass(frozen=True)
class GapPower:
    """The findable gap of one comparison in a planned run."""

    tolerance: float
    gap: float
    """The smallest gap that about 80 % of such runs find."""
    least_gap: float
    """The same if only answers to one question varied; equal to `gap` where that is known."""
    reach: float
    """How far the interval reaches to each side."""


@dataclass(frozen=True)
class FeaturePower:
    """The findable gaps of a feature, from the narrowest interval."""

    feature: str
    comparisons: Sequence[GapPower]

    @property
    def typical(self) -> GapPower:
        """The comparison with the median interval: widths of single ones vary by chance."""
        return self.comparisons[(len(self.comparisons) - 1) // 2]

    @property
    def tolerance(self) -> float:
        """The declared tolerance."""
        return self.typical.tolerance

    @property
    def is_known(self) -> bool:
        """True if the earlier run shows how far repeats help."""
        return self.typical.gap == self.typical.least_gap

    @property
    def rules_out(self) -> bool:
        """True if half of the comparisons can rule out a gap beyond the tolerance."""
        return self.typical.reach < self.tolerance

    @property
    def words(self) -> str:
        """The gap for a table."""
        gap, least_gap = number(self.typical.gap), number(self.typical.least_gap)
        return gap if gap == least_gap else f"{least_gap} to {gap}"

    @property
    def sentence(self) -> str:
        """The gap and what can be ruled out."""
        gap = number(self.comparisons[-1].gap)
        where, all_of_them = "", ""
        if len(self.comparisons) > 1:
            where, all_of_them = " in half of its comparisons", f", and of {gap} in all of them"
        can = "can" if self.rules_out else "cannot"
        shown = (
            f"it {can} rule out a gap beyond the tolerance of {number(self.tolerance)}{where}"
            if self.tolerance
            else "it cannot rule out a gap, as no tolerance is declared"
        )
        return (
            f"{words(self.feature)}: {number(100 * POWER)} % of such runs find a gap of"
            f" {number(self.typical.gap)}{where}{all_of_them}; {shown} (intervals reach"
            f" {number(self.typical.reach)} to each side)."
        )


@dataclass(frozen=True)
class EarlierFindings:
    """Findings of an earlier run of a suite, and its repeats."""

    diagnoses: Sequence[Diagnosis]
    repeats: int
    targets: Sequence[str] = ()
    """Models of the new run: where the earlier run asked them, their findings alone are used."""

    def powers(self, parts: int, repeats: int) -> list[FeaturePower]:
        """Return the power on each feature.

        Parameters
        ----------
        parts
            Models times scaffolds of the new run.
        repeats
            Repeats of the new run.
        """
        compared = [row for row in self.diagnoses if row.gaps and not row.stratum]
        parts_before = len({(row.target, row.scaffold) for row in compared}) or 1
        same = [row for row in compared if row.target in self.targets]
        by_feature = grouped(
            (row.feature, self._power(row, gap, parts / parts_before, repeats))
            for row in same or compared
            for gap in row.gaps
            if gap.gap.low is not None and gap.gap.high is not None
        )
        return [
            FeaturePower(feature, sorted(powers, key=lambda power: power.gap))
            for feature, powers in by_feature.items()
        ]

    def _power(self, row: Diagnosis, gap: Gap, parts: float, repeats: int) -> GapPower:
        half_width = _half_width(gap.gap)
        alone = _half_width(gap.by_itself) if gap.by_itself else 0.0
        quantile = interval_quantile(half_width, alone, row.alpha, row.family)
        least, most = (
            findable_gap(
                half,
                row.tolerance,
                alpha=row.alpha,
                family=max(1, round(row.family * parts)),
                family_before=row.family,
            )
            for half in repeated_half_width(
                half_width, quantile, answer_error(row, gap), self.repeats / repeats
            )
        )
        return GapPower(row.tolerance, most[0], least[0], most[1])


def _half_width(gap: Estimate) -> float:
    return ((gap.high or 0.0) - (gap.low or 0.0)) / 2


def answer_error(row: Diagnosis, gap: Gap) -> float | None:
    """Return the standard error of a gap over new answers to the same prompts.

    None where no prompt of a group was answered twice.
    """
    named = {group.group: group for group in row.groups}
    second = [named[gap.b]] if gap.b in named else [of for of in row.groups if of.group != gap.a]
    sides = [_answer_variance(side) for side in ([named[gap.a]], second)]
    known = [side for side in sides if side is not None]
    return sqrt(sum(known)) if len(known) == len(sides) else None


def _answer_variance(groups: Sequence[GroupSummary]) -> float | None:
    """Return the variance of the mean of some groups' answers; None where it is unknown."""
    counts = [group.responses - group.missing for group in groups if group.mean.value is not None]
    spreads = [group.answer_sd for group in groups if group.answer_sd is not None]
    if not counts or len(spreads) < len(counts):
        return None
    squares = sum(count * sd**2 for count, sd in zip(counts, spreads, strict=True))
    return squares / sum(counts) ** 2
