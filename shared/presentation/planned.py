"""The power of a run by number of repeats, from the intervals of an earlier run of its suite."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

from biaswatch.shared.contracts import Diagnosis, Estimate, Gap, GroupSummary
from biaswatch.shared.formatting import counted, number
from biaswatch.shared.lookup import grouped
from biaswatch.shared.presentation.tables import (
    Table,
    TableCell,
    number_cell,
    numbers,
    text_cell,
    texts,
    words,
)
from biaswatch.shared.stats.comparisons.planned_power import (
    POWER,
    findable_gap,
    interval_quantile,
    repeated_half_width,
)

UNKNOWN = (
    "Not known before the first run of this suite. The command biaswatch plan SUITE --gap G says"
    " how many questions and repeats a gap needs."
)
OFFERED_REPEATS = (1, 3, 5, 10, 20, 50)
HARDLY = 0.9
"""Share of the gap that is still needed with many repeats, from which they hardly help."""
MOST_FEATURES = 4
"""Features with a column of their own."""


@dataclass(frozen=True)
class GapPower:
    """What a run is likely to find in one comparison."""

    tolerance: float
    gap: float
    """The smallest gap that about 80 % of such runs find."""
    least_gap: float
    """The same if only answers to one question varied; equal to `gap` where that is known."""
    reach: float
    """How far the interval reaches to each side."""


@dataclass(frozen=True)
class FeaturePower:
    """What a run is likely to find on a feature, in its comparisons from the narrowest interval."""

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
        every = number(self.comparisons[-1].gap)
        where, all_of_them = "", ""
        if len(self.comparisons) > 1:
            where, all_of_them = " in half of its comparisons", f", and of {every} in all of them"
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


@dataclass(frozen=True)
class PowerByRepeats:
    """What a run of a suite is likely to find, by number of repeats."""

    earlier: EarlierFindings | None
    parts: int
    answers: int
    """Answers of the new run with one repeat."""
    repeats: int
    """Repeats of the new run."""

    @property
    def sentences(self) -> list[str]:
        """The power of the new run, and the fewest repeats that can rule a gap out."""
        powers = self._powers(self.repeats)
        if not powers:
            return [UNKNOWN]
        lines = [power.sentence for power in powers]
        repeats = self.earlier.repeats if self.earlier else 1
        lines.append(
            f"Estimated from the latest run of this suite, with {counted(repeats, 'repeat')};"
            " another run may find somewhat less or more."
        )
        if not all(power.is_known for power in powers):
            lines.append(
                "The gaps are upper bounds: the earlier run asked each question once, which does"
                " not show how far repeats help."
            )
        return [*lines, *self._repeats_help(powers), *self._advice(powers)]

    def _repeats_help(self, powers: Sequence[FeaturePower]) -> list[str]:
        most = self._powers(OFFERED_REPEATS[-1])
        hardly = all(
            after.is_known and after.typical.gap > HARDLY * before.typical.gap
            for before, after in zip(powers, most, strict=True)
        )
        if self.repeats >= OFFERED_REPEATS[-1] or not hardly:
            return []
        return ["More repeats hardly help: a smaller gap needs more questions."]

    def _advice(self, powers: Sequence[FeaturePower]) -> list[str]:
        with_tolerance = [power for power in powers if power.tolerance]
        if not with_tolerance:
            return ["Declare a tolerance in the suite for a run that can also rule a gap out."]
        if all(power.rules_out for power in with_tolerance):
            return []
        enough = next((count for count in OFFERED_REPEATS if self._rules_out(count)), None)
        if enough is None:
            most = OFFERED_REPEATS[-1]
            return [
                f"Not even {most} repeats can rule a gap out: ask more questions, or compare less."
            ]
        return [f"{enough} repeats can rule out a gap beyond the tolerance."]

    def _rules_out(self, repeats: int) -> bool:
        return all(power.rules_out for power in self._powers(repeats) if power.tolerance)

    def _powers(self, repeats: int) -> list[FeaturePower]:
        return self.earlier.powers(self.parts, repeats) if self.earlier else []

    def table(self, address: Callable[[int], str]) -> Table | None:
        """Return the gap found and what is ruled out, by repeats; None without an earlier run.

        Parameters
        ----------
        address
            Returns the address of the form with another number of repeats.
        """
        powers = self._powers(self.repeats)[:MOST_FEATURES]
        if not powers:
            return None
        has_tolerance = any(power.tolerance for power in powers)
        columns = (*texts("Repeats"), *numbers("Answers", *(words(it.feature) for it in powers)))
        offered = sorted({*OFFERED_REPEATS, self.repeats})
        return Table(
            f"The gap that {number(100 * POWER)} % of runs find, in half of the comparisons",
            (*columns, *texts(*["Can rule out a gap"] * has_tolerance)),
            tuple(self._row(count, address, has_tolerance=has_tolerance) for count in offered),
        )

    def _row(
        self, count: int, address: Callable[[int], str], *, has_tolerance: bool
    ) -> tuple[TableCell, ...]:
        is_chosen = count == self.repeats
        choice = text_cell(
            f"{count}, chosen" if is_chosen else f"Choose {count}",
            href=None if is_chosen else address(count),
        )
        gaps = [text_cell(power.words) for power in self._powers(count)[:MOST_FEATURES]]
        ruled_out = text_cell("yes" if self._rules_out(count) else "no")
        return (choice, number_cell(count * self.answers), *gaps, *[ruled_out] * has_tolerance)
